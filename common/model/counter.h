// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/model/linear_stack.h"

namespace tandem {

// A linear layer whose forward counts its calls twice: in a buffer of one element, in place, and in
// the plain attribute `calls`. The model shows which of the two counts DataParallel keeps: writes
// to the buffer reach the root's module where the root's replica shares the buffer's memory, the
// attribute is lost.
class Counter final : public LinearStack {
 public:
  Counter();

  [[nodiscard]] const ParameterLayout& buffers() const override { return buffers_; }
  void forward(Executor on, const ConstTensorList& parameters, ModuleState& state,
               Span<const float> input, Activations& activations) const override;

 private:
  ParameterLayout buffers_;
};

}  // namespace tandem
