// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/kernels/precision.h"
#include "common/model/tensor_values.h"
#include "common/optim/make_optimizer.h"
#include "common/parallel/chunk_rule.h"
#include "common/runtime/device_id.h"

namespace tandem::bench {

// What training came to: the gradients that the optimizer saw, per step, and the weights at the
// end. Weights alone would hide much: an update is a small part of a weight.
struct TrainedValues {
  std::vector<TensorValues> gradients;  // of each step
  TensorValues weights;
  // After each step but the last, where both began the next with the same ones; else empty.
  std::vector<TensorValues> updated{};
};

// How far two trainings are apart: the worst tensor's figure, of gradients of every step and of
// weights (see relative_difference(), relative_distance(), projection_error()).
struct Disagreement {
  double element = 0;
  double distance = 0;
  double projection = 0;
};

// What an optimizer makes of a gradient that is nothing but rounding, such as that of an attention
// key's bias, which is 0 by mathematics: as little, or, as Adam divides by the gradient's own size,
// whole steps.
enum class Steps { kByGradient, kNormalised };
[[nodiscard]] Steps steps_of(OptimizerKind optimizer);

// After normalised steps weights count only where every step's gradient was more than rounding:
// above a thousandth of its tensor's largest. Throws a logic error where steps, tensors or sizes
// differ.
[[nodiscard]] Disagreement disagreement(const TrainedValues& reference, const TrainedValues& other,
                                        Steps steps = Steps::kByGradient);

// Whether both sides round the same numbers in the same way, or shares of the batch come to
// neighbouring numbers of a narrow format, as they do where kernels differ with the size of the
// batch or where a share is not the batch's part by a power of two.
enum class Rounding { kAlike, kApart };

// Of a strategy that cuts the batch into these shards against `single` on the whole. One shard is
// single's own kernels and shapes. Else shares are the batch's gradients times their number, exact
// for a power of two of equal ones, and a row's product depends on the other rows but on the host.
[[nodiscard]] Rounding rounding_of(Backend backend, const std::vector<Piece>& shards);

// What other orders of summation and other roundings may come to; a part of a gradient that is
// missing, doubled or of another step comes to more.
[[nodiscard]] Disagreement bounds_of(Precision precision, Rounding rounding);

[[nodiscard]] bool within(const Disagreement& found, const Disagreement& bounds);

// "2.1e-06 of a tensor's largest (at most 1e-03)" and so on: what was found beside its bound.
[[nodiscard]] std::string to_text(const Disagreement& found, const Disagreement& bounds);

}  // namespace tandem::bench
