// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstring>

#include "tests/kernels/operations_fixture.h"

namespace tandem {

// Operands of a type that is a test's parameter, fp32 or bf16.
class TypedFixture : public OperationsFixture {
 public:
  AnySpan zeros_of(DType type, std::int64_t count) {
    buffers_.push_back(device().allocate(Bytes{size_of(type) * count}));
    return buffers_.back()->as(type, count);
  }

  // The same numbers, rounded to the type.
  AnySpan rounded(DType type, Span<const float> values) {
    const AnySpan to = zeros_of(type, values.size());
    if (values.empty()) return to;
    if (type == DType::kFloat32) {
      std::memcpy(to.data(), values.data(), static_cast<std::size_t>(values.size_bytes().value));
    } else {
      naive(Convert{.tensors = {{values, to}}});
    }
    return to;
  }

  AnySpan random_of(DType type, std::int64_t count,
                    Distribution distribution = Distribution::kUniform) {
    return rounded(type, random(count, distribution));
  }

  AnySpan copy_of_any(ConstAnySpan from) {
    const AnySpan to = zeros_of(from.dtype(), from.size());
    std::memcpy(to.data(), from.data(), static_cast<std::size_t>(from.size_bytes().value));
    return to;
  }

  Span<float> widened(ConstAnySpan values) {
    if (values.dtype() == DType::kFloat32) return copy_of(values.as<const float>());
    const Span<float> wide = zeros(values.size());
    if (!values.empty()) naive(Convert{.tensors = {{values, wide}}});
    return wide;
  }

  // What runs on a stream of its own, which it may leave failed: the logic error at its end.
  template <class Op>
  std::string logic_error_at_synchronize(const Op& op) {
    const auto own = device().make_stream(StreamPriority::kNormal);
    operations().enqueue(*own, op);  // does not throw
    return logic_error_of([&] { own->synchronize(); });
  }

  // What the naive version of `op` writes to this operand.
  template <class Op>
  AnySpan naive_result(Op op, AnySpan Op::*result) {
    op.*result = zeros_of((op.*result).dtype(), (op.*result).size());
    naive(op);
    return op.*result;
  }

  // Within `tolerance` of fp32's, and one number of bf16 at the largest element.
  void expect_agrees(ConstAnySpan actual, ConstAnySpan expected, double tolerance) {
    if (expected.dtype() == DType::kBFloat16) return expect_near_normwise(actual, expected, 0);
    expect_near(actual.as<const float>(), expected.as<const float>(), tolerance);
  }

  // Each element within `bound` of the largest, plus for bf16 the one number of the format by which
  // two roundings of nearly the same may differ.
  void expect_near_normwise(ConstAnySpan actual, ConstAnySpan expected, double bound) {
    const Span<float> wide = widened(expected);
    double largest = 0;
    for (const float value : wide) largest = std::max(largest, std::abs(double{value}));
    const double rounding = expected.dtype() == DType::kBFloat16 ? 0x1p-7 : 0;
    expect_near(widened(actual), wide, (bound + rounding) * largest);
  }

 private:
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

inline void expect_same_bits(ConstAnySpan a, ConstAnySpan b) {
  ASSERT_EQ(a.size_bytes(), b.size_bytes());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size_bytes().value)), 0);
}

}  // namespace tandem
