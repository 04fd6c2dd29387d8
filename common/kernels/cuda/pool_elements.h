// SPDX-License-Identifier: Apache-2.0
//
// Pooling of channels-last images, element by element: a pack is of channels.
#pragma once

#include <cstdint>
#include <limits>

#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/pack.h"
#include "common/kernels/image_shapes.h"

namespace tandem::cuda {

// Where an element of (batch, height, width, channels) lies.
struct ImagePlace {
  std::int64_t sample;
  std::int64_t row;
  std::int64_t column;
  std::int64_t channel;

  static TANDEM_DEVICE ImagePlace of(std::int64_t i, std::int64_t height, std::int64_t width,
                                     std::int64_t channels) {
    const auto [position, channel] = divide(i, channels);
    const auto [line, column] = divide(position, width);
    const auto [sample, row] = divide(line, height);
    return {sample, row, column, channel};
  }
};

// Over the elements of y.
template <class T>
struct MaxPoolForwardElements {
  const T* x;
  T* y;
  MaxPoolShape shape;

  [[nodiscard]] bool packed() const {
    return shape.channels % kPack == 0 && are_packed(x, static_cast<const T*>(y));
  }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const ImagePlace to = ImagePlace::of(i, shape.out_height(), shape.out_width(), shape.channels);
    Pack<T, width> largest;
    for (int j = 0; j < width; ++j) largest[j] = T(-std::numeric_limits<float>::infinity());
    for (int tap = 0; tap < MaxPoolShape::kKernel * MaxPoolShape::kKernel; ++tap) {
      const std::int64_t row = 2 * to.row - 1 + tap / 3;
      const std::int64_t column = 2 * to.column - 1 + tap % 3;
      if (row < 0 || row >= shape.height || column < 0 || column >= shape.width) continue;
      const std::int64_t line = to.sample * shape.height + row;
      const Pack<T, width> own =
          load<width>(x + (line * shape.width + column) * shape.channels + to.channel);
      for (int j = 0; j < width; ++j) {
        const auto value = static_cast<float>(own[j]);
        if (value > static_cast<float>(largest[j]) || value != value) largest[j] = own[j];
      }
    }
    store(y + i, largest);
  }
  static_assert(MaxPoolShape::kKernel == 3 && MaxPoolShape::kStride == 2 &&
                MaxPoolShape::kPadding == 1);
};

// Over the elements of dx, each of which gathers from the up to four windows that it lies in: no
// two threads write to one place.
template <class T>
struct MaxPoolBackwardElements {
  const T* x;
  const T* y;
  const T* dy;
  const T* dabove;  // or null
  T* dx;
  MaxPoolShape shape;

  [[nodiscard]] bool packed() const {
    return shape.channels % kPack == 0 && are_packed(x, y, dy, dabove, static_cast<const T*>(dx));
  }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const ImagePlace own = ImagePlace::of(i, shape.height, shape.width, shape.channels);
    Pack<float, width> sums{};
    for (std::int64_t p = own.row / 2; p <= (own.row + 1) / 2 && p < shape.out_height(); ++p) {
      for (std::int64_t q = own.column / 2; q <= (own.column + 1) / 2 && q < shape.out_width();
           ++q) {
        add_from<width>(p, q, i, own, sums);
      }
    }
    Pack<T, width> result;
    for (int j = 0; j < width; ++j) result[j] = T(sums[j]);
    store(dx + i, result);
  }

  // What window (p, q) sends to its element i.
  template <int width>
  TANDEM_DEVICE void add_from(std::int64_t p, std::int64_t q, std::int64_t i, const ImagePlace& own,
                              Pack<float, width>& sums) const {
    const std::int64_t line = own.sample * shape.out_height() + p;
    const std::int64_t from = (line * shape.out_width() + q) * shape.channels + own.channel;
    const Pack<T, width> largest = load<width>(y + from);
    for (int j = 0; j < width; ++j) {
      const auto wanted = static_cast<float>(largest[j]);
      if (static_cast<float>(x[i + j]) != wanted || is_ahead(p, q, i + j, own, wanted)) continue;
      const auto gradient = static_cast<float>(dy[from + j]);
      sums[j] += dabove == nullptr
                     ? gradient
                     : static_cast<float>(T(gradient + static_cast<float>(dabove[from + j])));
    }
  }

  // Whether the window has `wanted` ahead of element i, too.
  [[nodiscard]] TANDEM_DEVICE bool is_ahead(std::int64_t p, std::int64_t q, std::int64_t i,
                                            const ImagePlace& own, float wanted) const {
    const std::int64_t end = 2 * q + 2 < shape.width ? 2 * q + 2 : shape.width;
    for (std::int64_t row = p == 0 ? 0 : 2 * p - 1; row <= own.row; ++row) {
      for (std::int64_t column = q == 0 ? 0 : 2 * q - 1; column < end; ++column) {
        if (row == own.row && column == own.column) return false;
        const std::int64_t apart = (row - own.row) * shape.width + column - own.column;
        if (static_cast<float>(x[i + apart * shape.channels]) == wanted) return true;
      }
    }
    return false;
  }
};

// Over the elements of y (batch, channels).
template <class T>
struct AveragePoolForwardElements {
  const T* x;
  T* y;
  AveragePoolShape shape;

  [[nodiscard]] bool packed() const {
    return shape.channels % kPack == 0 && are_packed(x, static_cast<const T*>(y));
  }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const auto [sample, channel] = divide(i, shape.channels);
    Pack<float, width> sums{};
    for (std::int64_t p = 0; p < shape.positions; ++p) {
      const Pack<T, width> own =
          load<width>(x + (sample * shape.positions + p) * shape.channels + channel);
      for (int j = 0; j < width; ++j) sums[j] += static_cast<float>(own[j]);
    }
    Pack<T, width> result;
    const auto count = static_cast<float>(shape.positions);
    for (int j = 0; j < width; ++j) result[j] = T(sums[j] / count);
    store(y + i, result);
  }
};

// Over the elements of dx (batch, positions, channels).
template <class T>
struct AveragePoolBackwardElements {
  const T* dy;
  T* dx;
  AveragePoolShape shape;

  [[nodiscard]] bool packed() const {
    return shape.channels % kPack == 0 && are_packed(dy, static_cast<const T*>(dx));
  }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const auto [position, channel] = divide(i, shape.channels);
    const std::int64_t sample = divide(position, shape.positions).quotient;
    Pack<T, width> gradient = load<width>(dy + sample * shape.channels + channel);
    const auto count = static_cast<float>(shape.positions);
    for (int j = 0; j < width; ++j) gradient[j] = T(static_cast<float>(gradient[j]) / count);
    store(dx + i, gradient);
  }
};

}  // namespace tandem::cuda
