// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "common/kernels/cuda/device_code.h"

namespace tandem::cuda {

// GELU in its tanh form (linear_operations.h), in fp32.
struct Gelu {
  static constexpr float kRoot = 0.79788456080286536F;  // sqrt(2 / pi)
  static constexpr float kCubic = 0.044715F;

  TANDEM_DEVICE static float value(float y) { return 0.5F * y * (1 + bend(y)); }

  TANDEM_DEVICE static float slope(float y) {
    const float t = bend(y);
    return 0.5F * (1 + t) + 0.5F * y * (1 - t * t) * kRoot * (1 + 3 * kCubic * y * y);
  }

 private:
  TANDEM_DEVICE static float bend(float y) { return std::tanh(kRoot * (y + kCubic * y * y * y)); }
};

}  // namespace tandem::cuda
