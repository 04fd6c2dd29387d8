// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/runtime/device.h"

namespace tandem {

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
