// SPDX-License-Identifier: Apache-2.0
#include "common/model/parameter_layout.h"

#include <utility>

#include "common/base/rounding.h"

namespace tandem {

namespace {

constexpr std::int64_t kLine = 16;  // floats in a cache line of 64 bytes

}  // namespace

std::int64_t aligned_count(std::int64_t elements) { return round_up(elements, kLine); }

void ParameterLayout::add(std::string name, Shape shape) {
  const std::int64_t count = shape.count();
  segments_.push_back({std::move(name), std::move(shape), arena_count_, count});
  parameter_count_ += count;
  arena_count_ += aligned_count(count);
}

TensorList ParameterLayout::views(Span<float> arena) const {
  TensorList list;
  list.reserve(segments_.size());
  for (const Segment& segment : segments_) {
    list.push_back(arena.subspan(segment.offset, segment.count));
  }
  return list;
}

ConstTensorList as_const(const TensorList& tensors) { return {tensors.begin(), tensors.end()}; }

}  // namespace tandem
