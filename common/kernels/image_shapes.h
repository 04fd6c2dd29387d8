// SPDX-License-Identifier: Apache-2.0
//
// The shapes of operations on images (convolution.h, batch_norm.h, pooling.h), for device code too.
#pragma once

#include <compare>
#include <cstdint>

namespace tandem {

// The number of places of a square window of `kernel` along an axis of `size`, with `padding` on
// either side: the last window still lies within.
[[nodiscard]] constexpr std::int64_t window_count(std::int64_t size, std::int64_t kernel,
                                                  std::int64_t stride, std::int64_t padding) {
  return (size + 2 * padding - kernel) / stride + 1;
}

struct ConvolutionShape {
  std::int64_t batch = 0;
  std::int64_t height = 0;  // height of the input
  std::int64_t width = 0;
  std::int64_t in = 0;   // channels
  std::int64_t out = 0;  // channels
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;  // less than the kernel

  auto operator<=>(const ConvolutionShape&) const = default;

  [[nodiscard]] constexpr std::int64_t out_height() const {
    return window_count(height, kernel, stride, padding);
  }
  [[nodiscard]] constexpr std::int64_t out_width() const {
    return window_count(width, kernel, stride, padding);
  }
  [[nodiscard]] constexpr std::int64_t input_count() const { return batch * height * width * in; }
  [[nodiscard]] constexpr std::int64_t weight_count() const { return out * kernel * kernel * in; }
  [[nodiscard]] constexpr std::int64_t output_count() const {
    return batch * out_height() * out_width() * out;
  }
};

// Floating-point operations of one convolution, a multiply-add counted as two: for each output, one
// multiply-add per weight of the output, padding included, as the field counts. Forward is one
// convolution, backward two.
[[nodiscard]] constexpr std::int64_t convolution_flops(const ConvolutionShape& shape) {
  return 2 * shape.output_count() * shape.kernel * shape.kernel * shape.in;
}

struct BatchNormShape {
  std::int64_t rows = 0;  // batch * height * width; at least 2, as one row has no variance
  std::int64_t channels = 0;
  std::int64_t positions = 1;  // height * width

  auto operator<=>(const BatchNormShape&) const = default;
};

// Max pooling with windows of 3 x 3, stride 2 and a padding of 1.
struct MaxPoolShape {
  std::int64_t batch = 0;
  std::int64_t height = 0;  // height of the input
  std::int64_t width = 0;
  std::int64_t channels = 0;

  static constexpr std::int64_t kKernel = 3;
  static constexpr std::int64_t kStride = 2;
  static constexpr std::int64_t kPadding = 1;

  auto operator<=>(const MaxPoolShape&) const = default;

  [[nodiscard]] constexpr std::int64_t out_height() const {
    return window_count(height, kKernel, kStride, kPadding);
  }
  [[nodiscard]] constexpr std::int64_t out_width() const {
    return window_count(width, kKernel, kStride, kPadding);
  }
  [[nodiscard]] constexpr std::int64_t input_count() const {
    return batch * height * width * channels;
  }
  [[nodiscard]] constexpr std::int64_t output_count() const {
    return batch * out_height() * out_width() * channels;
  }
};

struct AveragePoolShape {
  std::int64_t batch = 0;
  std::int64_t positions = 0;  // height * width
  std::int64_t channels = 0;

  auto operator<=>(const AveragePoolShape&) const = default;
};

}  // namespace tandem
