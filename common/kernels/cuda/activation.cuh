// SPDX-License-Identifier: Apache-2.0
//
// At each element, as elementwise.cuh says.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/base/half.h"
#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/pack.h"

namespace tandem::cuda {

// GELU in its tanh form (activation.h), in fp32.
struct Gelu {
  static constexpr float kRoot = 0.79788456080286536F;  // sqrt(2 / pi)
  static constexpr float kCubic = 0.044715F;

  TANDEM_DEVICE static float value(float y) { return 0.5F * y * (1 + bend(y)); }

  TANDEM_DEVICE static float backward(float y, float dy) {
    const float t = bend(y);
    return dy * (0.5F * (1 + t) + 0.5F * y * (1 - t * t) * kRoot * (1 + 3 * kCubic * y * y));
  }

 private:
  TANDEM_DEVICE static float bend(float y) { return std::tanh(kRoot * (y + kCubic * y * y * y)); }
};

struct Relu {
  TANDEM_DEVICE static float backward(float y, float dy) { return y <= 0 ? 0 : dy; }
};

// dy becomes what `Function` passes on of it at `given`.
template <class T, class Function>
struct BackwardElements {
  const T* given;
  T* dy;

  [[nodiscard]] bool packed() const { return are_packed(given, dy); }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const Pack<T, width> at = load<width>(given + i);
    Pack<T, width> gradient = load<width>(static_cast<const T*>(dy) + i);
    for (int j = 0; j < width; ++j) {
      gradient[j] =
          T(Function::backward(static_cast<float>(at[j]), static_cast<float>(gradient[j])));
    }
    store(dy + i, gradient);
  }
};

template <class T>
using ReluBackwardElements = BackwardElements<T, Relu>;
template <class T>
using GeluBackwardElements = BackwardElements<T, Gelu>;

}  // namespace tandem::cuda
