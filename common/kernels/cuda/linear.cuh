// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/kernels/cuda/activation.cuh"

namespace tandem::cuda {

// y = activation(y + bias) over the rows of y (batch, out): for products whose epilogue could not.
template <class T>
struct BiasActivationElements {
  const T* bias;  // (out), or null
  T* y;           // (batch, out)
  T* before;      // (batch, out): what GELU is given; null where the activation is another
  std::int64_t out;
  bool relu;

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    static_assert(width == 1, "a pack may span two rows");
    auto value = static_cast<float>(y[i]);
    if (bias != nullptr) value += static_cast<float>(bias[i % out]);
    if (relu && value <= 0) value = 0;
    if (before != nullptr) {
      before[i] = T(value);
      value = Gelu::value(static_cast<float>(before[i]));
    }
    y[i] = T(value);
  }
};

}  // namespace tandem::cuda
