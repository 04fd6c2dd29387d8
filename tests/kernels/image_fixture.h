// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "common/kernels/host/naive.h"
#include "common/kernels/host_support.h"
#include "tests/kernels/operations_fixture.h"

namespace tandem {

// Operands of either type that images are computed in, and comparison of fast with naive.
class ImageFixture : public OperationsFixture {
 public:
  // Skips the test where this CPU has no convolutions of bf16.
  static bool lacks(DType type) {
    return type == DType::kBFloat16 && host_bf16_support() == Bf16Support::kNone;
  }

  AnySpan zeros_of(DType type, std::int64_t count) {
    const Span<float> memory = zeros(type == DType::kFloat32 ? count : (count + 1) / 2);
    return {reinterpret_cast<std::byte*>(memory.data()), count, type, memory.device()};
  }

  AnySpan as_type(DType type, Span<const float> values) {
    const AnySpan to = zeros_of(type, values.size());
    if (values.empty()) return to;
    if (type == DType::kFloat32) {
      std::copy(values.begin(), values.end(), to.as<float>().begin());
    } else {
      naive(Convert{.in = values, .out = to});
    }
    return to;
  }

  AnySpan data(DType type, std::int64_t count, Distribution distribution = Distribution::kUniform) {
    return as_type(type, random(count, distribution));
  }

  AnySpan copy_of_any(ConstAnySpan from) {
    const AnySpan to = zeros_of(from.dtype(), from.size());
    std::copy_n(from.data(), from.size_bytes().value, to.data());
    return to;
  }

  Span<float> widen(ConstAnySpan values) {
    if (values.dtype() == DType::kFloat32) return copy_of(values.as<const float>());
    const Span<float> wide = zeros(values.size());
    if (!values.empty()) naive(Convert{.in = values, .out = wide});
    return wide;
  }

  // Within `tolerance` of fp32's, and one number of bf16 at the largest element.
  void expect_agrees(ConstAnySpan actual, ConstAnySpan expected, double tolerance) {
    const Span<float> wide = widen(expected);
    double largest = 0;
    for (const float value : wide) largest = std::max(largest, std::abs(double{value}));
    const bool is_wide = expected.dtype() == DType::kFloat32;
    expect_near(widen(actual), wide, is_wide ? tolerance : 0x1p-7 * largest);
  }
};

}  // namespace tandem
