// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/runtime/device.h"
#include "common/runtime/span.h"
#include "common/tensor/shape.h"

namespace tandem {

// Tensors by segment index.
using TensorList = std::vector<Span<float>>;
using ConstTensorList = std::vector<Span<const float>>;

// The place of each parameter in one arena: "per tensor", "coalesced" and "flat" are views of the
// same memory. Segments are in registration order, each at a cache line's start; the gaps hold
// zeros, which no operation changes.
class ParameterLayout {
 public:
  struct Segment {
    std::string name;  // "layer0.weight"
    Shape shape;
    std::int64_t offset = 0;  // elements into the arena
    std::int64_t count = 0;   // elements

    [[nodiscard]] Bytes size_bytes() const { return bytes_of<float>(count); }
  };

  void add(std::string name, Shape shape);

  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }
  [[nodiscard]] int size() const { return static_cast<int>(segments_.size()); }

  // The number of parameters, without the gaps.
  [[nodiscard]] std::int64_t parameter_count() const { return parameter_count_; }

  // The number of elements of an arena, with the gaps.
  [[nodiscard]] std::int64_t arena_count() const { return arena_count_; }

  // Each segment's part of an arena.
  [[nodiscard]] TensorList views(Span<float> arena) const;

 private:
  std::vector<Segment> segments_;
  std::int64_t parameter_count_ = 0;
  std::int64_t arena_count_ = 0;
};

// The parameters of a linear layer, by segment.
struct LinearSegments {
  static constexpr int kNone = -1;

  int weight = 0;
  int bias = kNone;
};

// The number of elements rounded up so that the next tensor starts at a cache line.
[[nodiscard]] std::int64_t aligned_count(std::int64_t elements);

[[nodiscard]] ConstTensorList as_const(const TensorList& tensors);

// Memory of one device for tensors of any type, freed with this object.
class OwnedTensors {
 public:
  // `device` must outlive this object.
  explicit OwnedTensors(Device& device) : device_(device) {}

  [[nodiscard]] AnySpan add(DType type, std::int64_t count) {
    buffers_.push_back(device_.allocate(Bytes{count * size_of(type)}));
    return buffers_.back()->as(type, count);
  }
  [[nodiscard]] Span<float> add(std::int64_t count) {
    return add(DType::kFloat32, count).as<float>();
  }

 private:
  Device& device_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

}  // namespace tandem
