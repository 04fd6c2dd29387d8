// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/job/job.h"
#include "bench/step/step_options.h"
#include "common/kernels/precision.h"
#include "common/model/model.h"
#include "common/model/tensor_values.h"
#include "common/optim/optimizer.h"
#include "common/parallel/shards.h"
#include "common/runtime/span.h"

namespace tandem::bench {

// The result of training: the gradients that the optimizer saw, per step, and the weights at the
// end. Weights alone would hide much: an update is a small part of a weight.
struct TrainedValues {
  std::vector<TensorValues> gradients;  // one entry per step
  TensorValues weights;
  // The weights after each step but the last, where both trainings began the next step with the
  // same weights; else empty.
  std::vector<TensorValues> updated{};
};

// How far two trainings are apart: the worst tensor's figure, over gradients of every step and over
// weights (see relative_difference(), relative_distance(), projection_error()).
struct Disagreement {
  double element = 0;
  double distance = 0;
  double projection = 0;
};

// The size of an optimizer's step on a gradient that is only rounding, such as the gradient of an
// attention key's bias, which is 0 by mathematics: as small as the gradient, or whole steps where
// the optimizer, as Adam, divides by the gradient's own size.
enum class Steps { kByGradient, kNormalised };
[[nodiscard]] Steps steps_of(OptimizerKind optimizer);

// How far `other` is from `reference`. After normalised steps weights count only where every step's
// gradient was more than rounding: above a thousandth of its tensor's largest. Throws a logic error
// where steps, tensors or sizes differ.
[[nodiscard]] Disagreement disagreement(const TrainedValues& reference, const TrainedValues& other,
                                        Steps steps = Steps::kByGradient);

// Whether both sides round the same numbers in the same way, or shares of the batch come to
// neighbouring numbers of a narrow format. Shares do so where kernels differ with the size of the
// batch or where a share is not the batch's part by a power of two.
enum class Rounding { kAlike, kApart };

// The rounding of a strategy that cuts the batch into these shards, against `single` on the whole
// batch. One shard has single's own kernels and shapes. Otherwise a share's gradients are the
// batch's times the number of shards, exact for a power of two of equal shards, and except on the
// host a row's product depends on the other rows.
[[nodiscard]] Rounding rounding_of(Backend backend, const std::vector<Shard>& shards);

// The largest disagreement that other orders of summation and other roundings may come to; a part
// of a gradient that is missing, doubled or from another step comes to more.
[[nodiscard]] Disagreement bounds_of(Precision precision, Rounding rounding);

[[nodiscard]] bool within(const Disagreement& found, const Disagreement& bounds);

// The disagreement beside its bound: "2.1e-06 of a tensor's largest (at most 1e-03)" and so on.
[[nodiscard]] std::string to_text(const Disagreement& found, const Disagreement& bounds);

struct Verification {
  enum class Outcome { kAgrees, kDiffers, kNotVerified };
  Outcome outcome = Outcome::kNotVerified;
  std::string text;  // one line: what was compared, and how far apart
};

// Trains some steps with the strategy, and with `single` on the whole batch on rank 0, and compares
// every step's gradients and the weights, tensor by tensor; ranks must hold the same bits. Where a
// model computes otherwise on shards, `single` takes the shards in turn, each step from the
// strategy's weights. Nothing is timed. Collective; returns the same text on all ranks. "not
// verified: does not fit" where there is no room for both trainings.
[[nodiscard]] Verification verify(Bootstrap& bootstrap, Job& job, const StepOptions& options,
                                  const Model& model);

}  // namespace tandem::bench
