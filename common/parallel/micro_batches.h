// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "common/model/parameter_layout.h"
#include "common/parallel/interpreters.h"
#include "common/parallel/replica.h"

namespace tandem {

// Forward, loss and backward of a device's samples in equal micro-batches, one after another, as
// torch's loop under no_sync has them: the first backward writes the sums of the gradients, each
// later one writes apart, and its gradients are added one by one. Used by the thread that owns the
// replica.
class MicroBatches {
 public:
  // The samples of one of `count`, at least 1. Throws a usage error where `count` does not divide
  // `samples`.
  [[nodiscard]] static std::int64_t size(std::int64_t samples, int count);
  // The output type of a replica that trains on `count`: the loss's gradient of several is scaled.
  [[nodiscard]] static OutputType output_type(int count) {
    return count > 1 ? OutputType::kFp32 : OutputType::kLayers;
  }

  // `replica` holds size() samples. `loss`, one element, ends as the last micro-batch's, not
  // scaled. Both outlive this object.
  MicroBatches(Replica& replica, const ParameterLayout& layout, int count, Span<float> loss);
  ~MicroBatches();

  // Enqueues all of them. `sums` become the gradients of the mean loss, by segment; `last` hears of
  // each segment once its sum is enqueued.
  void train(Span<const float> inputs, Span<const float> targets, const TensorList& sums,
             GradientSink& last, Interpreter& interpreter);

 private:
  class Accumulator;
  void forward_and_loss(Span<const float> inputs, Span<const float> targets,
                        Interpreter& interpreter);

  Replica& replica_;
  const int count_;
  const Span<float> loss_;
  std::unique_ptr<Accumulator> accumulator_;  // where there are several
};

}  // namespace tandem
