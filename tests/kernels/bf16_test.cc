// SPDX-License-Identifier: Apache-2.0
//
// The operations on bf16 operands, against the plain versions. Both take sums to fp32 or better and
// round once, so that they differ by one number of the format at most where the sums fall apart.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "common/kernels/host_support.h"
#include "tests/kernels/linear_cases.h"
#include "tests/kernels/operations_fixture.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

class Bf16Fixture : public OperationsFixture {
 public:
  void SetUp() override {
    if (host_bf16_support() == Bf16Support::kNone) {
      GTEST_SKIP() << "the library has no bf16 products for this CPU";
    }
  }

  Span<BFloat16> narrow(Span<const float> values) {
    const Span<float> memory = zeros((values.size() + 1) / 2);
    const Span<BFloat16> narrowed{reinterpret_cast<BFloat16*>(memory.data()), values.size(),
                                  memory.device()};
    if (!values.empty()) naive(Convert{.tensors = {{values, narrowed}}});
    return narrowed;
  }

  Span<float> widen(ConstAnySpan values) {
    const Span<float> wide = zeros(values.size());
    naive(Convert{.tensors = {{values, wide}}});
    return wide;
  }
};

class Bf16Linear : public Bf16Fixture, public ::testing::WithParamInterface<LinearCase> {
 public:
  const LinearShape& shape() { return GetParam().shape; }
  bool is_exact() { return GetParam().data == Distribution::kSmallIntegers; }

  Span<BFloat16> data(std::int64_t count) { return narrow(random(count, GetParam().data)); }

  // Normwise: one number of the format at the largest element; nothing where sums are exact.
  void expect_one_rounding_apart(ConstAnySpan actual, ConstAnySpan expected) {
    const Span<float> wide = widen(expected);
    double largest = 0;
    for (const float value : wide) largest = std::max(largest, std::abs(double{value}));
    expect_near(widen(actual), wide, is_exact() ? 0 : 0x1p-7 * largest);
  }

  // fp32 sums of products that are exact in fp32.
  double tolerance(std::int64_t terms) {
    return is_exact() ? 0 : 0x1p-23 * static_cast<double>(terms + 4);
  }

  void expect_forward_agrees(Activation activation, std::int64_t biases) {
    LinearForward op{.shape = shape(),
                     .x = data(shape().batch * shape().in),
                     .weight = data(shape().out * shape().in),
                     .bias = data(biases),
                     .y = data(shape().batch * shape().out),
                     .activation = activation};
    run(op);
    const AnySpan actual = op.y;
    op.y = narrow(zeros(actual.size()));
    naive(op);
    expect_one_rounding_apart(actual, op.y);
  }
};

TEST_P(Bf16Linear, Forward_AgreesWithNaive) {
  for (const Activation activation : {Activation::kNone, Activation::kRelu}) {
    expect_forward_agrees(activation, shape().out);
    expect_forward_agrees(activation, 0);
  }
}

TEST_P(Bf16Linear, BackwardInput_AgreesWithNaive) {
  LinearBackwardInput op{.shape = shape(),
                         .dy = data(shape().batch * shape().out),
                         .weight = data(shape().out * shape().in),
                         .dx = data(shape().batch * shape().in)};
  run(op);
  const AnySpan actual = op.dx;
  op.dx = narrow(zeros(actual.size()));
  naive(op);
  expect_one_rounding_apart(actual, op.dx);
}

// Not rounded to bf16 anywhere: in fp32's own tolerance.
TEST_P(Bf16Linear, BackwardWeight_AgreesWithNaiveInFp32) {
  for (const std::int64_t biases : {shape().out, std::int64_t{0}}) {
    LinearBackwardWeight op{.shape = shape(),
                            .x = data(shape().batch * shape().in),
                            .dy = data(shape().batch * shape().out),
                            .dweight = random(shape().out * shape().in),
                            .dbias = random(biases)};
    run(op);
    const LinearBackwardWeight actual = op;
    op.dweight = zeros(actual.dweight.size());
    op.dbias = zeros(actual.dbias.size());
    naive(op);
    expect_near(actual.dweight, op.dweight, tolerance(shape().batch));
    expect_near(actual.dbias, op.dbias, tolerance(shape().batch));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Bf16Linear, ::testing::ValuesIn(linear_cases()));

using Bf16 = Bf16Fixture;

// All 65536 of them: both zeros, infinities, NaN and what is too small to be normal.
TEST_F(Bf16, ReluBackward_EqualsNaiveForEveryValue) {
  constexpr std::int64_t kAll = 1 << 16;
  const Span<BFloat16> y = narrow(zeros(kAll));
  for (std::int64_t i = 0; i < kAll; ++i) y.data()[i].bits = static_cast<std::uint16_t>(i);
  const Span<float> gradient = random(kAll);
  const Span<BFloat16> actual = narrow(gradient);
  const Span<BFloat16> expected = narrow(gradient);
  run(ReluBackward{.y = y, .dy = actual});
  naive(ReluBackward{.y = y, .dy = expected});
  for (std::int64_t i = 0; i < kAll; ++i) {
    ASSERT_EQ(actual.data()[i].bits, expected.data()[i].bits) << "where y is " << i;
  }
}

// By hand: 1 + 2^-8 is half way between two numbers of the format, and goes to the even one; the
// sum itself is taken before it is rounded, or the two small terms would be lost one by one.
TEST_F(Bf16, Forward_RoundsTheSumOnce) {
  LinearForward op{.shape = {.batch = 2, .in = 3, .out = 1},
                   .x = narrow(filled({1, 0x1p-8F, 0, 1, 0x1p-8F, 0x1p-8F})),
                   .weight = narrow(filled({1, 1, 1})),
                   .y = narrow(zeros(2))};
  const std::vector<float> expected{1, 1 + 0x1p-7F};
  run(op);
  expect_equal(widen(op.y), filled(expected));
  op.y = narrow(zeros(2));
  naive(op);
  expect_equal(widen(op.y), filled(expected));
}

TEST_F(Bf16, TypesThatDoNotFit_AreNamed) {
  const LinearForward fits{.shape = {.batch = 2, .in = 4, .out = 2},
                           .x = narrow(zeros(8)),
                           .weight = narrow(zeros(8)),
                           .bias = narrow(zeros(2)),
                           .y = narrow(zeros(4))};
  const auto told = [&](LinearForward op) {
    return logic_error_of([&] { operations().enqueue(stream(), op); });
  };
  LinearForward op = fits;
  op.weight = zeros(8);
  EXPECT_THAT(told(op), HasSubstr("weight is fp32 where bf16 is needed"));
  op = fits;
  op.bias = zeros(2);
  EXPECT_THAT(told(op), HasSubstr("bias is fp32"));
  op = fits;
  op.y = zeros(4);
  EXPECT_THAT(told(op), HasSubstr("y is fp32"));
  op = fits;
  op.x = Span<const Float16>(reinterpret_cast<const Float16*>(op.x.data()), 8, op.x.device());
  EXPECT_THAT(told(op), HasSubstr("x is fp16"));
  const ReluBackward relu{.y = narrow(zeros(4)), .dy = zeros(4)};
  EXPECT_THAT(logic_error_of([&] { operations().enqueue(stream(), relu); }),
              HasSubstr("dy is fp32"));
}

}  // namespace
}  // namespace tandem
