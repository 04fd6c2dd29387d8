// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <bit>

#include "common/kernels/activation.h"
#include "common/kernels/host_support.h"
#include "tests/kernels/linear_cases.h"
#include "tests/kernels/typed_fixture.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

class Gelu : public TypedFixture {
 public:
  // Evenly from -size to size, odd in number.
  Span<float> range(float size, std::int64_t count = 100001) {
    const Span<float> values = zeros(count);
    for (std::int64_t i = 0; i < count; ++i) {
      const double place = 2 * static_cast<double>(i) / static_cast<double>(count - 1) - 1;
      values.data()[i] = static_cast<float>(place * static_cast<double>(size));
    }
    return values;
  }

  // By way of a layer that multiplies by one.
  Span<float> naive_gelu(Span<const float> before) {
    const LinearForward op{.shape = {.batch = before.size(), .in = 1, .out = 1},
                           .x = before,
                           .weight = filled({1}),
                           .y = zeros(before.size()),
                           .activation = Activation::kGelu,
                           .before = zeros(before.size())};
    naive(op);
    return op.y.as<float>();
  }

  // The same of the slopes, times `dy`.
  AnySpan naive_backward(ConstAnySpan before, ConstAnySpan dy) {
    const LinearBackwardInput op{.shape = {.batch = before.size(), .in = 1, .out = 1},
                                 .dy = dy,
                                 .weight = rounded(dy.dtype(), filled({1})),
                                 .dx = zeros_of(dy.dtype(), dy.size()),
                                 .before = before};
    naive(op);
    return op.dx;
  }

  Span<float> fast_gelu(Span<const float> before) {
    const Span<float> y = zeros(before.size());
    host::gelu(before, y);
    return y;
  }
};

// To the last bits of each value while it is not tiny; far below zero the exponent's own rounding
// is what counts, so that those are held to the size of one.
TEST_F(Gelu, OfAllSizes_AgreesWithNaive) {
  for (const float size : {1e-3F, 1.0F, 6.0F, 30.0F}) {
    const Span<float> before = range(size);
    const Span<float> actual = fast_gelu(before);
    const Span<float> expected = naive_gelu(before);
    for (std::int64_t i = 0; i < before.size(); ++i) {
      const double own = std::abs(double{expected.data()[i]});
      ASSERT_NEAR(actual.data()[i], expected.data()[i], 1e-6 * own + 1e-9)
          << "of " << before.data()[i];
    }
  }
}

TEST_F(Gelu, BackwardOfAllSizes_AgreesWithNaive) {
  for (const float size : {1e-3F, 1.0F, 6.0F, 30.0F}) {
    const Span<float> before = range(size);
    const Span<float> actual = random(before.size());
    const AnySpan expected = naive_backward(before, actual);
    host::gelu_backward(before, actual);
    expect_near(actual, expected.as<float>(), 1e-6);
  }
}

TEST_F(Gelu, OfKnownValues_IsThem) {
  const Span<float> before = filled({0, 1, -1, 2, 100, -100, 3e38F, -3e38F});
  // tanh(sqrt(2 / pi) * 1.044715) = 0.6823838, and of 2: 0.9545977 * 2
  const Span<float> expected = filled({0, 0.8411920F, -0.1588080F, 1.9545977F, 100, 0, 3e38F, 0});
  expect_near(fast_gelu(before), expected, 3e-7);
  expect_near(naive_gelu(before), expected, 3e-7);
}

TEST_F(Gelu, BackwardOfLargeValues_IsOneOrNothing) {
  const Span<float> before = filled({100, -100, 1e20F, -1e20F, 3e38F});
  const Span<float> dy = filled({2, 2, 2, 2, 2});
  host::gelu_backward(before, dy);
  expect_near(dy, filled({2, 0, 2, 0, 2}), 1e-30);
}

TEST_F(Gelu, OfNaN_IsNaN) {
  const Span<float> before = filled({std::nanf("")});
  EXPECT_TRUE(std::isnan(*fast_gelu(before).data()));
  const Span<float> dy = filled({1});
  host::gelu_backward(before, dy);
  EXPECT_TRUE(std::isnan(*dy.data()));
}

// All finite numbers of the format: the result is the nearest, or the one beside it where the fp32
// result lies between two.
TEST_F(Gelu, OfEveryBf16Number_IsOneRoundingApart) {
  Span<float> before = zeros(1 << 16);
  for (std::uint32_t i = 0; i < 1 << 16; ++i) {
    const float value = std::bit_cast<float>(i << 16);
    before.data()[i] = std::abs(value) < 1e30F ? value : 0;
  }
  const AnySpan narrow = rounded(DType::kBFloat16, before);
  const AnySpan actual = zeros_of(DType::kBFloat16, before.size());
  host::gelu(narrow, actual);
  const AnySpan slopes = rounded(DType::kBFloat16, filled(std::vector<float>(1 << 16, 1.0F)));
  const AnySpan expected_slopes = naive_backward(narrow, slopes);
  host::gelu_backward(narrow, slopes);
  const Span<float> expected = naive_gelu(before);
  const Span<float> wide = widened(actual);
  for (std::int64_t i = 0; i < before.size(); ++i) {
    const double own = std::abs(double{expected.data()[i]});
    ASSERT_NEAR(wide.data()[i], expected.data()[i], 0x1p-8 * own + 1e-9);
  }
  expect_near(widened(slopes), widened(expected_slopes), 0x1p-7);
}

class LinearWithGelu : public Gelu, public ::testing::WithParamInterface<LinearCase> {
 public:
  LinearForward forward(DType type, std::int64_t biases) {
    const LinearShape& s = GetParam().shape;
    const auto data = [&](std::int64_t count) {
      return rounded(type, random(count, GetParam().data));
    };
    return {.shape = s,
            .x = data(s.batch * s.in),
            .weight = data(s.out * s.in),
            .bias = data(biases),
            .y = zeros_of(type, s.batch * s.out),
            .activation = Activation::kGelu,
            .before = zeros_of(type, s.batch * s.out)};
  }

  void expect_agrees(DType type, std::int64_t biases) {
    const LinearForward op = forward(type, biases);
    LinearForward expected = op;
    expected.y = zeros_of(type, op.y.size());
    expected.before = zeros_of(type, op.y.size());
    run(op);
    naive(expected);
    const double terms = static_cast<double>(GetParam().shape.in + 4);
    expect_near_normwise(op.before, expected.before, 0x1p-23 * terms);
    expect_near_normwise(op.y, expected.y, 0x1p-23 * terms + 1e-6);
  }

  // Behind the product of a layer without `before`, to the last bit.
  void expect_backward_follows_the_product(DType type) {
    const LinearShape& s = GetParam().shape;
    LinearBackwardInput op{.shape = s,
                           .dy = random_of(type, s.batch * s.out),
                           .weight = random_of(type, s.out * s.in),
                           .dx = zeros_of(type, s.batch * s.in)};
    run(op);
    const AnySpan expected = op.dx;
    op.before = random_of(type, s.batch * s.in);
    host::gelu_backward(op.before, expected);
    op.dx = zeros_of(type, s.batch * s.in);
    run(op);
    expect_same_bits(op.dx, expected);
  }
};

TEST_P(LinearWithGelu, AgreesWithNaive) {
  expect_agrees(DType::kFloat32, GetParam().shape.out);
  expect_agrees(DType::kFloat32, 0);
  expect_backward_follows_the_product(DType::kFloat32);
}

TEST_P(LinearWithGelu, InBf16_AgreesWithNaive) {
  if (host_bf16_support() == Bf16Support::kNone) {
    GTEST_SKIP() << "the library has no bf16 products for this CPU";
  }
  expect_agrees(DType::kBFloat16, GetParam().shape.out);
  expect_agrees(DType::kBFloat16, 0);
  expect_backward_follows_the_product(DType::kBFloat16);
}

INSTANTIATE_TEST_SUITE_P(Shapes, LinearWithGelu, ::testing::ValuesIn(linear_cases()));

// GELU is no part of the library's primitive: with it and without, a layer uses the same one.
TEST_F(Gelu, OfALinearLayer_NeedsNoPrimitiveOfItsOwn) {
  LinearForward op{.shape = {.batch = 3, .in = 2, .out = 2},
                   .x = random(6),
                   .weight = random(4),
                   .bias = random(2),
                   .y = zeros(6)};
  run(op);
  op.activation = Activation::kGelu;
  op.before = zeros(6);
  run(op);
  EXPECT_EQ(operations().primitive_count(), 1);
}

TEST_F(Gelu, OfOperandsThatDoNotFit_NamesThem) {
  LinearForward op{.shape = {.batch = 3, .in = 2, .out = 2},
                   .x = random(6),
                   .weight = random(4),
                   .y = zeros(6),
                   .activation = Activation::kGelu};
  EXPECT_THAT(refusal_of(op), HasSubstr("before has 0 elements where 6"));
  op.before = zeros_of(DType::kBFloat16, 6);
  EXPECT_THAT(refusal_of(op), HasSubstr("before is bf16"));
  op.before = zeros(6, 1);
  EXPECT_THAT(refusal_of(op), HasSubstr("host:1"));
  op.before = zeros(6);
  op.activation = Activation::kRelu;
  EXPECT_THAT(refusal_of(op), HasSubstr("before has 6 elements where 0"));
  LinearBackwardInput backward{.shape = {.batch = 3, .in = 1, .out = 2},
                               .dy = zeros(6),
                               .weight = zeros(2),
                               .dx = zeros(3),
                               .before = zeros(2)};
  EXPECT_THAT(refusal_of(backward), HasSubstr("before has 2"));
  backward.before = zeros_of(DType::kBFloat16, 3);
  EXPECT_THAT(refusal_of(backward), HasSubstr("before is bf16"));
  backward.before = zeros(3, 1);
  EXPECT_THAT(refusal_of(backward), HasSubstr("host:1"));
}

}  // namespace
}  // namespace tandem
