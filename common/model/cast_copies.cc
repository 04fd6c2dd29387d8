// SPDX-License-Identifier: Apache-2.0
#include "common/model/cast_copies.h"

namespace tandem {

// The copies of the parameters lie as those do: at the same offsets of an arena of their own.
CastCopies::CastCopies(Device& device, DType type, const ParameterLayout& layout,
                       std::int64_t inputs, std::int64_t outputs) {
  const AnySpan arena = allocate(device, type, layout.arena_count());
  for (const ParameterLayout::Segment& segment : layout.segments()) {
    parameters_.push_back(arena.subspan(segment.offset, segment.count));
  }
  input_ = allocate(device, type, inputs);
  output_ = allocate(device, DType::kFloat32, outputs).as<float>();
  output_gradient_ = allocate(device, DType::kFloat32, outputs).as<float>();
}

AnySpan CastCopies::allocate(Device& device, DType type, std::int64_t count) {
  buffers_.push_back(device.allocate(Bytes{count * size_of(type)}));
  return buffers_.back()->as(type, count);
}

void CastCopies::cast_in(Executor on, const ConstTensorList& parameters, Span<const float> input) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    on.operations.enqueue(on.stream, Convert{.in = parameters[i], .out = parameters_.at(i)});
  }
  on.operations.enqueue(on.stream, Convert{.in = input, .out = input_});
}

void CastCopies::cast_out(Executor on, ConstAnySpan output) {
  on.operations.enqueue(on.stream, Convert{.in = output, .out = output_});
}

void CastCopies::cast_gradient(Executor on, AnySpan gradient) {
  on.operations.enqueue(on.stream, Convert{.in = output_gradient_, .out = gradient});
}

}  // namespace tandem
