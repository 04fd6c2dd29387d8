// SPDX-License-Identifier: Apache-2.0
#include "common/model/passes.h"

#include <numeric>
#include <utility>

namespace tandem {

void enqueue_linear_backward(const Executor& on, const LayerParameters& parameters,
                             const GradientPlaces& gradients, const LinearSegments& segments,
                             const LinearOperands& operands) {
  const auto& [shape, x, dy, dx, before] = operands;
  const auto& [weight, bias] = segments;
  if (!dx.empty()) {
    on.enqueue(LinearBackwardInput{
        .shape = shape, .dy = dy, .weight = parameters.factor(weight), .dx = dx, .before = before});
  }
  on.enqueue(LinearBackwardWeight{.shape = shape,
                                  .x = x,
                                  .dy = dy,
                                  .dweight = gradients.of(weight),
                                  .dbias = gradients.of(bias)});
  const bool casts = parameters.copies != nullptr;
  if (casts) gradients.sink.gradient_ready(weight);
  if (bias != LinearSegments::kNone) gradients.sink.gradient_ready(bias);
  if (!casts) gradients.sink.gradient_ready(weight);
}

void Initialiser::random(int segment, float scale) const {
  const auto index = static_cast<std::size_t>(segment);
  on.enqueue(FillRandom{.values = parameters.at(index),
                        .seed = seed,
                        .first = static_cast<std::uint64_t>(layout.segments()[index].offset),
                        .distribution = distribution,
                        .scale = scale});
}

void Initialiser::constant(int segment, float value) const {
  on.enqueue(Fill{.values = parameters.at(static_cast<std::size_t>(segment)), .constant = value});
}

// The copies lie in one arena, each at a cache line's start, like the parameters themselves.
ParameterCopies::ParameterCopies(Device& device, DType type, const ParameterLayout& layout,
                                 std::vector<int> segments, std::int64_t zeros)
    : segments_(std::move(segments)), copies_(layout.segments().size()) {
  if (segments_.empty()) {
    segments_.resize(copies_.size());
    std::iota(segments_.begin(), segments_.end(), 0);
  }
  const auto count_of = [&](int segment) {
    const std::int64_t count = layout.segments().at(static_cast<std::size_t>(segment)).count;
    return segment == segments_.front() ? count + zeros : count;
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

void ParameterCopies::cast(Executor on, const ConstTensorList& parameters,
                           const std::optional<Convert::Tensor>& input) {
  Convert casts;
  for (const int segment : segments_) {
    const auto index = static_cast<std::size_t>(segment);
    const Span<const float> parameter = parameters.at(index);
    casts.tensors.push_back({parameter, copies_[index].subspan(0, parameter.size())});
  }
  if (input) casts.tensors.push_back(*input);
  on.enqueue(casts);
}

ConstAnySpan ParameterCopies::of(int segment) const {
  const AnySpan copy = copies_.at(static_cast<std::size_t>(segment));
  TANDEM_CHECK(!copy.empty(), "no copy is made of segment {}", segment);
  return copy;
}

}  // namespace tandem
