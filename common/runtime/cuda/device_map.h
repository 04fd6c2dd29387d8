// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/runtime/cuda/gpu.h"
#include "common/runtime/span.h"

namespace tandem::cuda {

// Which GPU each logical device lies on: device i on GPU i % n; or the own device on the only GPU,
// where all others are other processes'. Immutable.
class DeviceMap {
 public:
  DeviceMap(std::vector<std::unique_ptr<Gpu>> gpus, int devices, std::optional<int> own)
      : gpus_(std::move(gpus)), devices_(devices), own_(own) {}

  [[nodiscard]] int devices() const { return devices_; }
  [[nodiscard]] int gpus() const { return static_cast<int>(gpus_.size()); }
  [[nodiscard]] bool has(int device) const {
    return device >= 0 && device < devices_ && (!own_ || device == *own_);
  }

  [[nodiscard]] Gpu& gpu_of(DeviceId device) const {
    TANDEM_CHECK(device.backend == Backend::kCuda && has(device.index),
                 "{} is no device of this process, which has {} of CUDA", to_string(device),
                 own_ ? 1 : devices_);
    return *gpus_[own_ ? 0 : static_cast<std::size_t>(device.index) % gpus_.size()];
  }

 private:
  std::vector<std::unique_ptr<Gpu>> gpus_;
  int devices_;
  std::optional<int> own_;
};

}  // namespace tandem::cuda
