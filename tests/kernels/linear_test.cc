// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tests/kernels/linear_cases.h"
#include "tests/kernels/operations_fixture.h"

namespace tandem {
namespace {

class Linear : public OperationsFixture, public ::testing::WithParamInterface<LinearCase> {
 public:
  const LinearShape& shape() { return GetParam().shape; }

  Span<float> data(std::int64_t rows, std::int64_t columns = 1) {
    return random(rows * columns, GetParam().data);
  }

  // A sum of `terms` products of numbers below one; integers add up exactly in any order.
  double tolerance(std::int64_t terms) {
    if (GetParam().data == Distribution::kSmallIntegers) return 0;
    return 0x1p-23 * static_cast<double>(terms + 4);
  }

  void expect_forward_agrees(Activation activation, std::int64_t biases) {
    LinearForward op{.shape = shape(),
                     .x = data(shape().batch, shape().in),
                     .weight = data(shape().out, shape().in),
                     .bias = data(biases),
                     .y = data(shape().batch, shape().out),
                     .activation = activation};
    run(op);
    const Span<float> actual = op.y.as<float>();
    op.y = zeros(actual.size());
    naive(op);
    expect_near(actual, op.y.as<float>(), tolerance(shape().in));
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
  LinearBackwardInput op{.shape = shape(),
                         .dy = data(shape().batch, shape().out),
                         .weight = data(shape().out, shape().in),
                         .dx = data(shape().batch, shape().in)};
  run(op);
  const Span<float> actual = op.dx.as<float>();
  op.dx = zeros(actual.size());
  naive(op);
  expect_near(actual, op.dx.as<float>(), tolerance(shape().out));
}

TEST_P(Linear, BackwardWeight_AgreesWithNaiveAndOverwrites) {
  LinearBackwardWeight op{.shape = shape(),
                          .x = data(shape().batch, shape().in),
                          .dy = data(shape().batch, shape().out),
                          .dweight = data(shape().out, shape().in),
                          .dbias = data(shape().out)};
  run(op);
  const LinearBackwardWeight actual = op;
  op.dweight = zeros(actual.dweight.size());
  op.dbias = zeros(actual.dbias.size());
  naive(op);
  expect_near(actual.dweight, op.dweight, tolerance(shape().batch));
  expect_near(actual.dbias, op.dbias, tolerance(shape().batch));
}

TEST_P(Linear, BackwardWeightWithoutBias_AgreesWithNaive) {
  LinearBackwardWeight op{.shape = shape(),
                          .x = data(shape().batch, shape().in),
                          .dy = data(shape().batch, shape().out),
                          .dweight = data(shape().out, shape().in)};
  run(op);
  const Span<float> actual = op.dweight;
  op.dweight = zeros(actual.size());
  naive(op);
  expect_near(actual, op.dweight, tolerance(shape().batch));
}

TEST_P(Linear, BackwardWeightOfPaddedRows_AgreesWithNaive) {
  LinearBackwardWeight op{.shape = shape(),
                          .x = data(shape().batch, shape().in),
                          .dy = data(shape().batch, shape().out + 3),
                          .dweight = data(shape().out, shape().in),
                          .padding = 3};
  run(op);
  const Span<float> actual = op.dweight;
  op.dweight = zeros(actual.size());
  naive(op);
  expect_near(actual, op.dweight, tolerance(shape().batch));
  op.dbias = data(shape().out);
  EXPECT_THROW(run(op), Error);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Linear, ::testing::ValuesIn(linear_cases()));

}  // namespace
}  // namespace tandem
