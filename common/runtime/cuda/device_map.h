// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/runtime/cuda/gpu.h"
#include "common/runtime/device_id.h"

namespace tandem::cuda {

// Which GPU each logical device lies on: device i on GPU i % n. Immutable.
class DeviceMap {
 public:
  DeviceMap(std::vector<std::unique_ptr<Gpu>> gpus, int devices)
      : gpus_(std::move(gpus)), devices_(devices) {}

  [[nodiscard]] int devices() const { return devices_; }
  [[nodiscard]] int gpus() const { return static_cast<int>(gpus_.size()); }

  [[nodiscard]] Gpu& gpu_of(DeviceId device) const {
    TANDEM_CHECK(device.backend == Backend::kCuda && device.index >= 0 && device.index < devices_,
                 "{} is no device of this platform, which has {} of CUDA", to_string(device),
                 devices_);
    return *gpus_[static_cast<std::size_t>(device.index) % gpus_.size()];
  }

 private:
  std::vector<std::unique_ptr<Gpu>> gpus_;
  int devices_;
};

}  // namespace tandem::cuda
