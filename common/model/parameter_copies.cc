// SPDX-License-Identifier: Apache-2.0
#include "common/model/parameter_copies.h"

#include <numeric>
#include <utility>

#include "common/base/checksum.h"
namespace tandem {

namespace {

std::vector<int> all_of(const ParameterLayout& layout) {
  std::vector<int> segments(static_cast<std::size_t>(layout.size()));
  std::iota(segments.begin(), segments.end(), 0);
  return segments;
}

}  // namespace

// The copies lie in one arena, each at a cache line's start, like the parameters themselves.
ParameterCopies::ParameterCopies(Device& device, DType type, const ParameterLayout& layout,
                                 std::vector<int> segments)
    : segments_(std::move(segments)), copies_(layout.segments().size()) {
  const auto count_of = [&](int segment) {
    return layout.segments().at(static_cast<std::size_t>(segment)).count;
  };
  std::int64_t total = 0;
  for (const int segment : segments_) total += aligned_count(count_of(segment));
  memory_ = device.allocate(Bytes{total * size_of(type)});
  std::int64_t offset = 0;
  for (const int segment : segments_) {
    const std::int64_t count = count_of(segment);
    copies_[static_cast<std::size_t>(segment)] = memory_->as(type, total).subspan(offset, count);
    offset += aligned_count(count);
  }
}

ParameterCopies::ParameterCopies(Device& device, DType type, const ParameterLayout& layout)
    : ParameterCopies(device, type, layout, all_of(layout)) {}

void ParameterCopies::cast(Executor on, const ConstTensorList& parameters) {
  for (const int segment : segments_) {
    const auto index = static_cast<std::size_t>(segment);
    on.enqueue(Convert{.in = parameters.at(index), .out = copies_[index]});
  }
}

ConstAnySpan ParameterCopies::of(int segment) const {
  const AnySpan copy = copies_.at(static_cast<std::size_t>(segment));
  TANDEM_CHECK(!copy.empty(), "no copy is made of segment {}", segment);
  return copy;
}

}  // namespace tandem
