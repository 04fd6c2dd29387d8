// SPDX-License-Identifier: Apache-2.0
//
// Pooling of images, element by element: a pack is of channels, where those are last.
#pragma once

#include <cstdint>
#include <limits>

#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/pack.h"
#include "common/kernels/image_shapes.h"

namespace tandem::cuda {

// The place of an element in an image.
struct ImagePlace {
  std::int64_t sample;
  std::int64_t row;
  std::int64_t column;
  std::int64_t channel;
};

// Images of (batch, height, width, channels), or (batch, channels, height, width).
struct Images {
  std::int64_t height;
  std::int64_t width;
  std::int64_t channels;
  bool channels_last;

  [[nodiscard]] TANDEM_DEVICE ImagePlace place(std::int64_t i) const {
    if (channels_last) {
      const auto [position, channel] = divide(i, channels);
      const auto [line, column] = divide(position, width);
      const auto [sample, row] = divide(line, height);
      return {sample, row, column, channel};
    }
    const auto [line, column] = divide(i, width);
    const auto [plane, row] = divide(line, height);
    const auto [sample, channel] = divide(plane, channels);
    return {sample, row, column, channel};
  }
  [[nodiscard]] TANDEM_DEVICE std::int64_t at(const ImagePlace& p) const {
    if (channels_last) {
      return ((p.sample * height + p.row) * width + p.column) * channels + p.channel;
    }
    return ((p.sample * channels + p.channel) * height + p.row) * width + p.column;
  }
  // Whether there may be packs.
  [[nodiscard]] bool packed(int pack) const { return channels_last && channels % pack == 0; }
};

// Over the elements of y.
template <class T>
struct MaxPoolForwardElements {
  const T* x;
  T* y;
  Images of;      // x, as dx
  Images pooled;  // y

  static constexpr int kWidest = kWidestPack<T>;
  [[nodiscard]] bool packed(int width = kPack) const {
    return of.packed(width) && are_packed(width, x, static_cast<const T*>(y));
  }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const ImagePlace to = pooled.place(i);
    Pack<T, width> largest;
    for (int j = 0; j < width; ++j) largest[j] = T(-std::numeric_limits<float>::infinity());
    for (int tap = 0; tap < MaxPoolShape::kKernel * MaxPoolShape::kKernel; ++tap) {
      const std::int64_t row = 2 * to.row - 1 + tap / 3;
      const std::int64_t column = 2 * to.column - 1 + tap % 3;
      if (row < 0 || row >= of.height || column < 0 || column >= of.width) continue;
      const Pack<T, width> own = load<width>(x + of.at({to.sample, row, column, to.channel}));
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
  Images of;      // x, as dx
  Images pooled;  // y

  static constexpr int kWidest = kWidestPack<T>;
  [[nodiscard]] bool packed(int width = kPack) const {
    return of.packed(width) && are_packed(width, x, y, dy, dabove, static_cast<const T*>(dx));
  }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const ImagePlace own = of.place(i);
    const Pack<T, width> values = load<width>(x + i);
    Pack<float, width> sums{};
    for (std::int64_t p = own.row / 2; p <= (own.row + 1) / 2 && p < pooled.height; ++p) {
      for (std::int64_t q = own.column / 2; q <= (own.column + 1) / 2 && q < pooled.width; ++q) {
        add_from(p, q, i, own, values, sums);
      }
    }
    Pack<T, width> result;
    for (int j = 0; j < width; ++j) result[j] = T(sums[j]);
    store(dx + i, result);
  }

  // The values that window (p, q) sends to its elements from i on, which have `values`.
  template <int width>
  TANDEM_DEVICE void add_from(std::int64_t p, std::int64_t q, std::int64_t i, const ImagePlace& own,
                              const Pack<T, width>& values, Pack<float, width>& sums) const {
    const std::int64_t from = pooled.at({own.sample, p, q, own.channel});
    const Pack<T, width> largest = load<width>(y + from);
    const Pack<T, width> gradient = load<width>(dy + from);
    Pack<T, width> above{};
    if (dabove != nullptr) above = load<width>(dabove + from);
    Pack<bool, width> first;
    for (int j = 0; j < width; ++j) first[j] = are_same(values[j], largest[j]);
    const std::int64_t end = 2 * q + 2 < of.width ? 2 * q + 2 : of.width;
    for (std::int64_t row = p == 0 ? 0 : 2 * p - 1; row <= own.row; ++row) {
      for (std::int64_t column = q == 0 ? 0 : 2 * q - 1;
           column < (row < own.row ? end : own.column); ++column) {
        const std::int64_t apart = (row - own.row) * of.width + column - own.column;
        const Pack<T, width> ahead =
            load<width>(x + i + apart * (of.channels_last ? of.channels : 1));
        for (int j = 0; j < width; ++j) first[j] &= !are_same(ahead[j], largest[j]);
      }
    }
    for (int j = 0; j < width; ++j) {
      auto sum = static_cast<float>(gradient[j]);
      if (dabove != nullptr) sum = static_cast<float>(T(sum + static_cast<float>(above[j])));
      if (first[j]) sums[j] += sum;
    }
  }

  [[nodiscard]] TANDEM_DEVICE static bool are_same(const T& a, const T& b) {
    return static_cast<float>(a) == static_cast<float>(b);
  }
};

// Over the elements of y (batch, channels).
template <class T>
struct AveragePoolForwardElements {
  const T* x;
  T* y;
  AveragePoolShape shape;
  bool channels_last;

  [[nodiscard]] bool packed() const {
    return channels_last && shape.channels % kPack == 0 && are_packed(x, static_cast<const T*>(y));
  }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const auto [sample, channel] = divide(i, shape.channels);
    const std::int64_t size = shape.positions * shape.channels;
    const T* const first = x + (channels_last ? sample * size + channel : i * shape.positions);
    const std::int64_t apart = channels_last ? shape.channels : 1;
    Pack<float, width> sums{};
    for (std::int64_t p = 0; p < shape.positions; ++p) {
      const Pack<T, width> own = load<width>(first + p * apart);
      for (int j = 0; j < width; ++j) sums[j] += static_cast<float>(own[j]);
    }
    Pack<T, width> result;
    const auto count = static_cast<float>(shape.positions);
    for (int j = 0; j < width; ++j) result[j] = T(sums[j] / count);
    store(y + i, result);
  }
};

// Over the elements of dx.
template <class T>
struct AveragePoolBackwardElements {
  const T* dy;
  T* dx;
  AveragePoolShape shape;
  bool channels_last;

  [[nodiscard]] bool packed() const {
    return channels_last && shape.channels % kPack == 0 &&
           are_packed(dy, static_cast<const T*>(dx));
  }

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const std::int64_t sample = divide(i, shape.positions * shape.channels).quotient;
    const std::int64_t from = channels_last
                                  ? sample * shape.channels + divide(i, shape.channels).remainder
                                  : divide(i, shape.positions).quotient;
    Pack<T, width> gradient = load<width>(dy + from);
    const auto count = static_cast<float>(shape.positions);
    for (int j = 0; j < width; ++j) gradient[j] = T(static_cast<float>(gradient[j]) / count);
    store(dx + i, gradient);
  }
};

}  // namespace tandem::cuda
