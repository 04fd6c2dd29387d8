// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/parallel/replica.h"

namespace tandem::ddp {

// Adds up the gradients of a step's micro-batches, as torch's .grad does under no_sync: the first
// backward writes the sums, and each later backward writes to the accumulator, whose gradients are
// added one by one.
class GradientAccumulator final : public GradientSink {
 public:
  GradientAccumulator(Replica& replica, const ParameterLayout& layout)
      : replica_(replica), latest_(make_arena(replica.device(), layout)) {}

  // Gradients that a later backward writes, by segment.
  [[nodiscard]] const TensorList& latest() const { return latest_.tensors; }

  // Sets the sums that gradient_ready() adds to, and the sink that is told of each sum. Both
  // outlive the backward.
  void add_to(const TensorList& sums, GradientSink& next) {
    sums_ = &sums;
    next_ = &next;
  }

  void gradient_ready(int segment) override {
    const auto index = static_cast<std::size_t>(segment);
    const Span<float> sum = (*sums_)[index];
    replica_.operations().enqueue(replica_.stream(),
                                  Add{.a = sum, .b = latest_.tensors[index], .sum = sum});
    next_->gradient_ready(segment);
  }

 private:
  Replica& replica_;
  const Arena latest_;
  const TensorList* sums_ = nullptr;
  GradientSink* next_ = nullptr;
};

}  // namespace tandem::ddp
