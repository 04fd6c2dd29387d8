// SPDX-License-Identifier: Apache-2.0
#include "common/model/cast_copies.h"

namespace tandem {

CastCopies::CastCopies(Device& device, DType type, const ParameterLayout& layout,
                       std::int64_t inputs, std::int64_t outputs)
    : parameters_(device, type, layout),
      tensors_(device),
      input_(tensors_.add(type, inputs)),
      output_(tensors_.add(outputs)),
      output_gradient_(tensors_.add(outputs)) {}

void CastCopies::cast_in(Executor on, const ConstTensorList& parameters, Span<const float> input) {
  parameters_.cast(on, parameters);
  on.operations.enqueue(on.stream, Convert{.in = input, .out = input_});
}

void CastCopies::cast_out(Executor on, ConstAnySpan output) {
  on.operations.enqueue(on.stream, Convert{.in = output, .out = output_});
}

void CastCopies::cast_gradient(Executor on, AnySpan gradient) {
  on.operations.enqueue(on.stream, Convert{.in = output_gradient_, .out = gradient});
}

}  // namespace tandem
