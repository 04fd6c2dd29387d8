// SPDX-License-Identifier: Apache-2.0
#include <tuple>

#include "common/kernels/host_support.h"
#include "tests/kernels/linear_cases.h"
#include "tests/kernels/typed_fixture.h"

namespace tandem {
namespace {

// Gradients of parameters are fp32 in each type: they are not rounded to bf16 anywhere.
class Linear : public TypedFixture,
               public ::testing::WithParamInterface<std::tuple<LinearCase, DType>> {
 public:
  void SetUp() override {
    if (type() == DType::kBFloat16 && host_bf16_support() == Bf16Support::kNone) {
      GTEST_SKIP() << "the library has no bf16 products for this CPU";
    }
  }

  static const LinearShape& shape() { return std::get<LinearCase>(GetParam()).shape; }
  static DType type() { return std::get<DType>(GetParam()); }
  static Distribution distribution() { return std::get<LinearCase>(GetParam()).data; }

  AnySpan data(std::int64_t rows, std::int64_t columns = 1) {
    return random_of(type(), rows * columns, distribution());
  }

  // A sum in fp32 of `terms` products of numbers below one; integers add up exactly in any order.
  static double tolerance(std::int64_t terms) {
    if (distribution() == Distribution::kSmallIntegers) return 0;
    return 0x1p-23 * static_cast<double>(terms + 4);
  }

  // A bf16 result is rounded once.
  void expect_close(ConstAnySpan actual, ConstAnySpan expected, std::int64_t terms) {
    const bool rounds = type() == DType::kBFloat16 && tolerance(terms) > 0;
    if (rounds) return expect_near_normwise(actual, expected, 0);
    expect_near(widened(actual), widened(expected), tolerance(terms));
  }

  void expect_forward_agrees(Activation activation, std::int64_t biases) {
    const LinearForward op{.shape = shape(),
                           .x = data(shape().batch, shape().in),
                           .weight = data(shape().out, shape().in),
                           .bias = data(biases),
                           .y = data(shape().batch, shape().out),
                           .activation = activation};
    run(op);
    expect_close(op.y, naive_result(op, &LinearForward::y), shape().in);
  }

  // dweight and dbias are overwritten.
  void expect_backward_weight_agrees(std::int64_t biases, std::int64_t padding) {
    LinearBackwardWeight op{.shape = shape(),
                            .x = data(shape().batch, shape().in),
                            .dy = data(shape().batch, shape().out + padding),
                            .dweight = random(shape().out * shape().in),
                            .dbias = random(biases),
                            .padding = padding};
    run(op);
    const LinearBackwardWeight actual = op;
    op.dweight = zeros(actual.dweight.size());
    op.dbias = zeros(actual.dbias.size());
    naive(op);
    expect_near(actual.dweight, op.dweight, tolerance(shape().batch));
    expect_near(actual.dbias, op.dbias, tolerance(shape().batch));
  }
};

TEST_P(Linear, Forward_AgreesWithNaive) { expect_forward_agrees(Activation::kNone, shape().out); }

TEST_P(Linear, ForwardWithRelu_AgreesWithNaive) {
  expect_forward_agrees(Activation::kRelu, shape().out);
}

TEST_P(Linear, ForwardWithoutBias_AgreesWithNaive) {
  expect_forward_agrees(Activation::kNone, 0);
  expect_forward_agrees(Activation::kRelu, 0);
}

TEST_P(Linear, BackwardInput_AgreesWithNaive) {
  const LinearBackwardInput op{.shape = shape(),
                               .dy = data(shape().batch, shape().out),
                               .weight = data(shape().out, shape().in),
                               .dx = data(shape().batch, shape().in)};
  run(op);
  expect_close(op.dx, naive_result(op, &LinearBackwardInput::dx), shape().out);
}

TEST_P(Linear, BackwardWeight_AgreesWithNaiveAndOverwrites) {
  expect_backward_weight_agrees(shape().out, 0);
}

TEST_P(Linear, BackwardWeightWithoutBias_AgreesWithNaive) { expect_backward_weight_agrees(0, 0); }

TEST_P(Linear, BackwardWeightOfPaddedRows_AgreesWithNaive) {
  expect_backward_weight_agrees(0, 3);
  EXPECT_THROW(expect_backward_weight_agrees(shape().out, 3), Error);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Linear,
                         ::testing::Combine(::testing::ValuesIn(linear_cases()),
                                            ::testing::Values(DType::kFloat32, DType::kBFloat16)));

}  // namespace
}  // namespace tandem
