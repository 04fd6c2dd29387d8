// SPDX-License-Identifier: Apache-2.0
#include "common/data/synthetic_batch.h"

#include <algorithm>
#include <span>

#include "common/tensor/random.h"

namespace tandem {
namespace {

// The constants keep the sequences apart for every seed.
constexpr std::uint64_t kInputs = 0x9E3779B97F4A7C15;
constexpr std::uint64_t kTargets = 0xC2B2AE3D27D4EB4F;

// The content of one tensor of the batch.
struct Content {
  std::int64_t width = 0;  // elements per sample
  std::int64_t classes = 0;
};

void fill(Span<float> values, std::uint64_t seed, const Content& content, std::int64_t first,
          Distribution distribution) {
  const std::span<float> all(values.data(), static_cast<std::size_t>(values.size()));
  const auto from = static_cast<std::uint64_t>(first * content.width);
  if (content.classes > 0) {
    return fill_classes(all, seed, from, static_cast<std::uint32_t>(content.classes));
  }
  if (distribution == Distribution::kUniform) return fill_uniform(all, seed, from, 1);
  fill_small_integers(all, seed, from, 1);
}

void pad(Span<float> inputs, const BatchShape& shape) {
  if (shape.input_lengths.empty()) return;
  for (std::int64_t i = 0; i < shape.count; ++i) {
    const std::int64_t length = shape.input_lengths.at(static_cast<std::size_t>(shape.first + i));
    const Span<float> sample = inputs.subspan(i * shape.input_width, shape.input_width);
    const Span<float> padding = sample.subspan(length, shape.input_width - length);
    std::fill(padding.begin(), padding.end(), 0.0F);
  }
}

}  // namespace

SyntheticBatch::Tensor SyntheticBatch::make_tensor(Platform& platform, std::int64_t elements,
                                                   HostMemory memory) {
  Tensor tensor;
  if (memory == HostMemory::kPinned || !platform.holds_data()) {
    tensor.pinned = platform.allocate_host(bytes_of<float>(elements));
    tensor.values = tensor.pinned->as<float>();
    return tensor;
  }
  tensor.pageable.resize(static_cast<std::size_t>(elements));
  tensor.values = {tensor.pageable.data(), elements, {platform.backend(), DeviceId::kHostMemory}};
  return tensor;
}

SyntheticBatch::SyntheticBatch(Platform& platform, const BatchShape& shape, std::uint64_t seed,
                               Distribution distribution, HostMemory memory)
    : shape_(shape),
      inputs_(make_tensor(platform, shape.count * shape.input_width, memory)),
      targets_(make_tensor(platform, shape.count * shape.target_width, memory)) {
  if (!platform.holds_data()) return;
  // Inputs and targets have a sequence each, and the weights, which use the seed itself, have a
  // third.
  const std::uint64_t inputs = seed ^ kInputs;
  const std::uint64_t targets = seed ^ kTargets;
  fill(inputs_.values, inputs, {shape.input_width, shape.input_classes}, shape.first, distribution);
  fill(targets_.values, targets, {shape.target_width, shape.target_classes}, shape.first,
       distribution);
  pad(inputs_.values, shape);
}

Span<const float> SyntheticBatch::inputs() const { return inputs_.values; }
Span<const float> SyntheticBatch::targets() const { return targets_.values; }

}  // namespace tandem
