// SPDX-License-Identifier: Apache-2.0
//
// What the stand-in for cuDNN computes: one convolution, or its gradient for the image or the
// filter, on tensors of any strides, with sums in double.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "common/base/half.h"

namespace tandem::test::stand_in {

// In memory; sizes and strides are (first, channels, height, width).
struct StridedTensor {
  std::byte* data = nullptr;
  bool narrow = false;  // bf16, else fp32
  std::array<std::int64_t, 4> sizes{};
  std::array<std::int64_t, 4> strides{};

  [[nodiscard]] std::int64_t at(std::int64_t first, std::int64_t channel, std::int64_t row,
                                std::int64_t column) const {
    return first * strides[0] + channel * strides[1] + row * strides[2] + column * strides[3];
  }
  [[nodiscard]] double get(std::int64_t i) const {
    return narrow
               ? static_cast<double>(static_cast<float>(reinterpret_cast<const BFloat16*>(data)[i]))
               : static_cast<double>(reinterpret_cast<const float*>(data)[i]);
  }
  void put(std::int64_t i, double value) const {
    const auto rounded = static_cast<float>(value);
    if (narrow) {
      reinterpret_cast<BFloat16*>(data)[i] = BFloat16(rounded);
    } else {
      reinterpret_cast<float*>(data)[i] = rounded;
    }
  }
};

enum class Written { kImage, kFilter, kResult };

struct StridedConvolution {
  Written written = Written::kResult;
  StridedTensor image;
  StridedTensor filter;
  StridedTensor result;
  std::array<std::int64_t, 2> strides{};
  std::array<std::int64_t, 2> paddings{};
  bool tf32 = false;

  // Whether the three sizes belong together.
  [[nodiscard]] bool fits() const {
    bool all = result.sizes[0] == image.sizes[0] && result.sizes[1] == filter.sizes[0] &&
               filter.sizes[1] == image.sizes[1];
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const std::int64_t room = image.sizes[axis + 2] + 2 * paddings[axis] - filter.sizes[axis + 2];
      all = all && room >= 0 && result.sizes[axis + 2] == room / strides[axis] + 1;
    }
    return all;
  }

  void run() const {
    const StridedTensor& to = written == Written::kImage    ? image
                              : written == Written::kFilter ? filter
                                                            : result;
    std::vector<double> sums(static_cast<std::size_t>(span_of(to)));
    for_each_product([&](std::int64_t i, std::int64_t f, std::int64_t r) {
      const auto sum = [&](std::int64_t at) -> double& {
        return sums[static_cast<std::size_t>(at)];
      };
      switch (written) {
        case Written::kImage:
          sum(i) += factor(filter, f) * factor(result, r);
          return;
        case Written::kFilter:
          sum(f) += factor(image, i) * factor(result, r);
          return;
        case Written::kResult:
          sum(r) += factor(image, i) * factor(filter, f);
          return;
      }
    });
    // Tensors are dense, in whatever order.
    for (std::size_t i = 0; i < sums.size(); ++i) to.put(static_cast<std::int64_t>(i), sums[i]);
  }

 private:
  [[nodiscard]] static std::int64_t span_of(const StridedTensor& tensor) {
    return tensor.sizes[0] * tensor.sizes[1] * tensor.sizes[2] * tensor.sizes[3];
  }

  // To 10 bits of fraction, to nearest, as far as it is fp32 and so asked.
  [[nodiscard]] double factor(const StridedTensor& tensor, std::int64_t i) const {
    const double value = tensor.get(i);
    if (!tf32 || tensor.narrow) return value;
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return static_cast<double>(std::bit_cast<float>((bits + 0x1000U) & ~0x1fffU));
  }

  template <class Visit>
  void for_each_product(const Visit& visit) const {
    for (std::int64_t n = 0; n < result.sizes[0]; ++n) {
      for (std::int64_t p = 0; p < result.sizes[2]; ++p) {
        for (std::int64_t q = 0; q < result.sizes[3]; ++q) {
          for (std::int64_t r = 0; r < filter.sizes[2]; ++r) {
            for (std::int64_t s = 0; s < filter.sizes[3]; ++s) visit_tap(visit, n, p, q, r, s);
          }
        }
      }
    }
  }

  template <class Visit>
  void visit_tap(const Visit& visit, std::int64_t n, std::int64_t p, std::int64_t q, std::int64_t r,
                 std::int64_t s) const {
    const std::int64_t row = p * strides[0] - paddings[0] + r;
    const std::int64_t column = q * strides[1] - paddings[1] + s;
    if (row < 0 || row >= image.sizes[2] || column < 0 || column >= image.sizes[3]) return;
    for (std::int64_t k = 0; k < filter.sizes[0]; ++k) {
      for (std::int64_t c = 0; c < filter.sizes[1]; ++c) {
        visit(image.at(n, c, row, column), filter.at(k, c, r, s), result.at(n, k, p, q));
      }
    }
  }
};

}  // namespace tandem::test::stand_in
