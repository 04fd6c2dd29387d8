// SPDX-License-Identifier: Apache-2.0
//
// What batch normalisation does to each element of (rows, channels) once the sums are known
// (batch_norm_parts.h).
#pragma once

#include <cstdint>

#include "common/kernels/cuda/divide.h"
#include "common/kernels/cuda/pack.h"

namespace tandem::cuda {

template <class T>
struct BatchNormForwardElements {
  const T* x;
  const T* residual;  // or null
  T* y;               // may be x or the residual
  const float* gain;  // (channels), as all below
  const float* bias;
  const float* mean;
  const float* rstd;
  std::int64_t channels;
  bool relu;

  [[nodiscard]] bool packed() const {
    return channels % kPack == 0 && are_packed(x, residual, static_cast<const T*>(y));
  }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const std::int64_t c = divide(i, channels).remainder;
    Pack<T, width> values = load<width>(x + i);
    Pack<T, width> others{};
    if (residual != nullptr) others = load<width>(residual + i);
    for (int j = 0; j < width; ++j) {
      const float distance = static_cast<float>(values[j]) - mean[c + j];
      float value = distance * (rstd[c + j] * gain[c + j]) + bias[c + j];
      if (residual != nullptr) value += static_cast<float>(others[j]);
      values[j] = T(relu && value <= 0 ? 0.0F : value);
    }
    store(y + i, values);
  }
};

// dx = gain rstd (g - dbias / rows - n dgain / rows), n = (x - mean) rstd.
template <class T>
struct BatchNormBackwardElements {
  const T* g;
  const T* x;
  T* dx;              // may be g
  const float* gain;  // (channels), as all below
  const float* mean;
  const float* rstd;
  const float* dgain;
  const float* dbias;
  std::int64_t channels;
  float over_rows;  // 1 / rows

  [[nodiscard]] bool packed() const {
    return channels % kPack == 0 && are_packed(g, x, static_cast<const T*>(dx));
  }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const std::int64_t c = divide(i, channels).remainder;
    Pack<T, width> gradient = load<width>(g + i);
    const Pack<T, width> values = load<width>(x + i);
    for (int j = 0; j < width; ++j) {
      const float normal = (static_cast<float>(values[j]) - mean[c + j]) * rstd[c + j];
      const float level = (dbias[c + j] + normal * dgain[c + j]) * over_rows;
      gradient[j] = T(gain[c + j] * rstd[c + j] * (static_cast<float>(gradient[j]) - level));
    }
    store(dx + i, gradient);
  }
};

}  // namespace tandem::cuda
