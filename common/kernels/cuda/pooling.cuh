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

// Where an element of an image lies.
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
  [[nodiscard]] TANDEM_DEVICE std::int64_t columns_apart() const {
    return channels_last ? channels : 1;
  }
  // Whether there is an element so many rows and columns further.
  [[nodiscard]] TANDEM_DEVICE bool has(const ImagePlace& p, int rows, int columns) const {
    return p.row + rows >= 0 && p.row + rows < height && p.column + columns >= 0 &&
           p.column + columns < width;
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

// Over squares of two by two elements of dx, which gather from the up to four windows that they lie
// in: no two threads write to one place, and all threads take the same way. Rows and columns are
// counted from the square's first.
template <class T>
struct MaxPoolBackwardElements {
  const T* x;
  const T* y;
  const T* dy;
  const T* dabove;  // or null
  T* dx;
  Images of;       // x, as dx
  Images pooled;   // y
  Images squares;  // of dx

  static constexpr int kWidest = kWidestPack<T>;
  [[nodiscard]] bool packed(int width = kPack) const {
    return of.packed(width) && are_packed(width, x, y, dy, dabove, static_cast<const T*>(dx));
  }

  // What the windows look at up to the square's last element.
  static constexpr int kRows = 3;     // from -1 on
  static constexpr int kColumns = 5;  // from -1 on
  template <int width>
  using Seen = Pack<T, width>[kRows * kColumns];

  template <int width>
  TANDEM_DEVICE void at(std::int64_t i) const {
    const ImagePlace square = squares.place(i);
    const ImagePlace first{square.sample, 2 * square.row, 2 * square.column, square.channel};
    const std::int64_t from = of.at(first);
    const auto place = [&](int row, int column) {  // of the first where there is none
      const std::int64_t apart = of.has(first, row, column) ? row * of.width + column : 0;
      return from + apart * of.columns_apart();
    };
    Seen<width> seen;
    TANDEM_UNROLL
    for (int k = 0; k < kRows * kColumns; ++k) {
      seen[k] = load<width>(x + place(k / kColumns - 1, k % kColumns - 1));
    }
    Pack<float, width> sums[4]{};
    TANDEM_UNROLL
    for (int k = 0; k < 4; ++k) {
      if (pooled.has(square, k / 2, k % 2)) add_from(first, square, k / 2, k % 2, seen, sums);
    }
    TANDEM_UNROLL
    for (int k = 0; k < 4; ++k) {
      Pack<T, width> result;
      for (int j = 0; j < width; ++j) result[j] = T(sums[k][j]);
      if (of.has(first, k / 2, k % 2)) store(dx + place(k / 2, k % 2), result);
    }
  }

  // What the window so many windows further down and to the right sends to elements of the square.
  template <int width>
  TANDEM_DEVICE void add_from(const ImagePlace& first, const ImagePlace& window, int down,
                              int right, const Seen<width>& seen,
                              Pack<float, width> (&sums)[4]) const {
    const std::int64_t from =
        pooled.at(window) + (down * pooled.width + right) * pooled.columns_apart();
    const Pack<T, width> largest = load<width>(y + from);
    Pack<T, width> gradient = load<width>(dy + from);
    if (dabove != nullptr) {
      const Pack<T, width> above = load<width>(dabove + from);
      for (int j = 0; j < width; ++j) {
        gradient[j] = T(static_cast<float>(gradient[j]) + static_cast<float>(above[j]));
      }
    }
    Pack<bool, width> sent{};
    TANDEM_UNROLL
    for (int tap = 0; tap < MaxPoolShape::kKernel * MaxPoolShape::kKernel; ++tap) {
      const int row = 2 * down - 1 + tap / 3;
      const int column = 2 * right - 1 + tap % 3;
      if (row > 1 || (row == 1 && column > 1)) break;  // behind the square
      const bool exists = of.has(first, row, column);
      const bool is_own = row >= 0 && (column == 0 || column == 1);
      for (int j = 0; j < width; ++j) {
        const auto value = static_cast<float>(seen[(row + 1) * kColumns + column + 1][j]);
        bool is_first = value == static_cast<float>(largest[j]);
        is_first &= exists;  // without branches
        is_first &= !sent[j];
        sent[j] |= is_first;
        const float share = is_first ? static_cast<float>(gradient[j]) : 0.0F;
        if (is_own) sums[2 * row + column][j] += share;
      }
    }
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
