// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/kernels/typed_fixture.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;

struct BatchNormCase {
  BatchNormShape shape;
  DType type = DType::kFloat32;
  Activation activation = Activation::kNone;
  bool joins = false;  // a residual in forward, a second gradient in backward
};

void PrintTo(const BatchNormCase& c, std::ostream* out) {
  *out << c.shape.rows << "x" << c.shape.channels << " " << name_of(c.type)
       << (c.activation == Activation::kRelu ? " relu" : "") << (c.joins ? " joins" : "");
}

class BatchNorm : public TypedFixture, public ::testing::WithParamInterface<BatchNormCase> {
 public:
  static const BatchNormShape& shape() { return GetParam().shape; }
  static DType type() { return GetParam().type; }
  static std::int64_t all() { return shape().rows * shape().channels; }
  AnySpan some() { return random_of(type(), all()); }
  Span<float> per_channel() { return random(shape().channels); }

  BatchNormForward forward() {
    return {.shape = shape(),
            .x = some(),
            .residual = GetParam().joins ? some() : AnySpan(),
            .gain = per_channel(),
            .bias = per_channel(),
            .y = zeros_of(type(), all()),
            .running_mean = per_channel(),
            .running_variance = per_channel(),
            .mean = zeros(shape().channels),
            .rstd = zeros(shape().channels),
            .activation = GetParam().activation};
  }

  BatchNormForward with_own_results(BatchNormForward op) {
    op.y = zeros_of(type(), all());
    op.running_mean = copy_of(op.running_mean);
    op.running_variance = copy_of(op.running_variance);
    op.mean = zeros(shape().channels);
    op.rstd = zeros(shape().channels);
    return op;
  }

  BatchNormBackward backward() {
    const BatchNormForward op = forward();
    naive(op);
    const bool cuts = GetParam().activation == Activation::kRelu;
    return {.shape = shape(),
            .x = op.x,
            .y = cuts ? op.y : AnySpan(),
            .dy = some(),
            .dabove = GetParam().joins ? some() : AnySpan(),
            .gain = op.gain,
            .mean = op.mean,
            .rstd = op.rstd,
            .dx = zeros_of(type(), all()),
            .dresidual = GetParam().joins ? zeros_of(type(), all()) : AnySpan(),
            .dgain = zeros(shape().channels),
            .dbias = zeros(shape().channels)};
  }

  BatchNormBackward with_own_results(BatchNormBackward op) {
    op.dx = zeros_of(type(), all());
    op.dresidual = zeros_of(type(), op.dresidual.size());
    op.dgain = zeros(shape().channels);
    op.dbias = zeros(shape().channels);
    return op;
  }

  // 1 / sqrt(variance) of few rows may be large.
  void expect_backward_agrees(const BatchNormBackward& actual, const BatchNormBackward& expected) {
    const double steepest = *std::max_element(actual.rstd.begin(), actual.rstd.end());
    const double unit = 0x1p-23 * (steepest + 1);
    expect_agrees(actual.dx, expected.dx, 16 * unit);
    expect_agrees(actual.dresidual, expected.dresidual, 0);
    expect_near(actual.dgain, expected.dgain, unit * static_cast<double>(shape().rows + 4));
    expect_near(actual.dbias, expected.dbias, 0x1p-23 * static_cast<double>(shape().rows + 4));
  }
};

TEST_P(BatchNorm, Forward_AgreesWithNaive) {
  const BatchNormForward op = forward();
  const BatchNormForward expected = with_own_results(op);
  run(op);
  naive(expected);
  const double steepest = *std::max_element(expected.rstd.begin(), expected.rstd.end());
  expect_agrees(op.y, expected.y, 0x1p-20 * (steepest + 1));
  expect_near(op.mean, expected.mean, 1e-6);
  expect_near(op.rstd, expected.rstd, 1e-5 * steepest);
  expect_near(op.running_mean, expected.running_mean, 1e-6);
  expect_near(op.running_variance, expected.running_variance, 1e-6);
}

TEST_P(BatchNorm, ForwardInPlace_IsTheSame) {
  BatchNormForward op = forward();
  const BatchNormForward apart = with_own_results(op);
  run(apart);
  op.y = copy_of_any(op.x);
  op.x = op.y;
  run(op);
  expect_equal(widened(op.y), widened(apart.y));
}

TEST_P(BatchNorm, Backward_AgreesWithNaive) {
  const BatchNormBackward op = backward();
  const BatchNormBackward expected = with_own_results(op);
  run(op);
  naive(expected);
  expect_backward_agrees(op, expected);
}

// As models have it: dx over dy, the residual's gradient over what came from above.
TEST_P(BatchNorm, BackwardInPlace_IsTheSame) {
  BatchNormBackward op = backward();
  const BatchNormBackward apart = with_own_results(op);
  run(apart);
  op.dx = copy_of_any(op.dy);
  op.dy = op.dx;
  if (!op.dabove.empty()) {
    op.dresidual = copy_of_any(op.dabove);
    op.dabove = op.dresidual;
  }
  run(op);
  expect_equal(widened(op.dx), widened(apart.dx));
  expect_equal(widened(op.dresidual), widened(apart.dresidual));
}

std::vector<BatchNormCase> batch_norm_cases() {
  std::vector<BatchNormCase> all;
  for (const BatchNormShape& shape :
       {BatchNormShape{2, 1}, BatchNormShape{3, 5}, BatchNormShape{64, 64}, BatchNormShape{65, 128},
        BatchNormShape{200, 67}, BatchNormShape{1000, 16}}) {
    for (const DType type : {DType::kFloat32, DType::kBFloat16}) {
      for (const Activation activation : {Activation::kNone, Activation::kRelu}) {
        for (const bool joins : {false, true}) all.push_back({shape, type, activation, joins});
      }
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Shapes, BatchNorm, ::testing::ValuesIn(batch_norm_cases()));

class BatchNormValues : public TypedFixture {
 public:
  // One channel, of these values.
  BatchNormForward of(const std::vector<float>& values) {
    const auto rows = static_cast<std::int64_t>(values.size());
    return {.shape = {rows, 1},
            .x = filled(values),
            .gain = filled({2}),
            .bias = filled({0.5F}),
            .y = zeros(rows),
            .running_mean = filled({0}),
            .running_variance = filled({1}),
            .mean = zeros(1),
            .rstd = zeros(1),
            .epsilon = 0};
  }
};

// Mean 3; squared distances 4 + 0 + 4 = 8, over 3 and over 2.
TEST_F(BatchNormValues, RunningStatistics_AdvanceByATenthWithTheUnbiasedVariance) {
  const BatchNormForward op = of({1, 3, 5});
  run(op);
  EXPECT_FLOAT_EQ(*op.mean.begin(), 3);
  EXPECT_FLOAT_EQ(*op.rstd.begin(), std::sqrt(3.0F / 8));
  EXPECT_FLOAT_EQ(*op.running_mean.begin(), 0.3F);
  EXPECT_FLOAT_EQ(*op.running_variance.begin(), 0.9F + 0.1F * 4);
  run(op);
  EXPECT_FLOAT_EQ(*op.running_mean.begin(), 0.9F * 0.3F + 0.3F);
  EXPECT_FLOAT_EQ(*op.running_variance.begin(), 0.9F * 1.3F + 0.4F);
  EXPECT_FLOAT_EQ(op.y.as<float>().data()[2], 2 * 2 * std::sqrt(3.0F / 8) + 0.5F);
}

// Squares of the values themselves would lose all of the variance.
TEST_F(BatchNormValues, MeanFarFromZero_CostsNoPrecision) {
  std::vector<float> values;
  for (int i = 0; i < 300; ++i) values.push_back(4096.0F + static_cast<float>(i % 2));
  const BatchNormForward op = of(values);
  run(op);
  EXPECT_NEAR(*op.mean.begin(), 4096.5, 1e-3);
  EXPECT_NEAR(*op.rstd.begin(), 2, 1e-5);
}

TEST_F(BatchNormValues, OneValuePerChannel_IsRefusedAsTorchDoes) {
  EXPECT_THAT(logic_error_of([&] { run(of({1})); }), HasSubstr("1 value per channel"));
}

TEST_F(BatchNormValues, WrongOperands_AreRefusedByName) {
  BatchNormForward op = of({1, 2});
  op.running_variance = zeros(2);
  EXPECT_THAT(logic_error_of([&] { run(op); }), HasSubstr("running_variance has 2"));
  op = of({1, 2});
  op.residual = zeros(3);
  EXPECT_THAT(logic_error_of([&] { run(op); }), HasSubstr("residual has 3"));
  op = of({1, 2});
  op.activation = Activation::kGelu;
  EXPECT_THAT(logic_error_of([&] { run(op); }), HasSubstr("GELU"));
  op = of({1, 2});
  BatchNormBackward back{.shape = op.shape,
                         .x = op.x,
                         .dy = zeros(2),
                         .gain = op.gain,
                         .mean = op.mean,
                         .rstd = op.rstd,
                         .dx = zeros(2),
                         .dgain = zeros(1),
                         .dbias = zeros(1)};
  back.dresidual = back.dx;
  EXPECT_THAT(logic_error_of([&] { run(back); }), HasSubstr("are one"));
  back.dresidual = {};
  back.y = zeros(1);
  EXPECT_THAT(logic_error_of([&] { run(back); }), HasSubstr("y has 1"));
}

}  // namespace
}  // namespace tandem
