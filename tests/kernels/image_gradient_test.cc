// SPDX-License-Identifier: Apache-2.0
//
// The formulas of operations on images against central differences in double, as gradient_test.cc
// does it: the scalar is the sum of the results times fixed numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "common/tensor/random.h"
#include "tests/kernels/naive/naive_image.h"

namespace tandem {
namespace {

using Values = std::vector<double>;

Values some(std::int64_t count, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  fill_uniform(values, seed, 0, 1);
  return Values(values.begin(), values.end());
}

double along(const Values& a, const Values& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void expect_slopes(const std::function<double()>& scalar, Values& at, const Values& slopes,
                   double tolerance = 1e-8) {
  constexpr double kStep = 1e-5;
  ASSERT_EQ(at.size(), slopes.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double before = at[i];
    at[i] = before + kStep;
    const double above = scalar();
    at[i] = before - kStep;
    const double below = scalar();
    at[i] = before;
    EXPECT_NEAR((above - below) / (2 * kStep), slopes[i], tolerance) << "at element " << i;
  }
}

class ConvolutionGradient : public ::testing::TestWithParam<ConvolutionShape> {};

TEST_P(ConvolutionGradient, OfInputAndWeight_AreTheFiniteDifferences) {
  const ConvolutionShape s = GetParam();
  Values x = some(s.input_count(), 1);
  Values weight = some(s.weight_count(), 2);
  const Values dy = some(s.output_count(), 3);
  Values y(dy.size());
  const auto scalar = [&] {
    naive_loops::convolution_forward(s, x.data(), weight.data(), y.data());
    return along(y, dy);
  };
  Values dx(x.size());
  Values dweight(weight.size());
  naive_loops::convolution_backward_input(s, dy.data(), weight.data(), dx.data());
  naive_loops::convolution_backward_weight(s, x.data(), dy.data(), dweight.data());
  expect_slopes(scalar, x, dx);
  expect_slopes(scalar, weight, dweight);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvolutionGradient,
                         ::testing::Values(ConvolutionShape{2, 3, 4, 2, 3, 1, 1, 0},
                                           ConvolutionShape{2, 5, 4, 2, 2, 1, 2, 0},
                                           ConvolutionShape{1, 4, 5, 2, 2, 3, 1, 1},
                                           ConvolutionShape{2, 5, 6, 1, 2, 3, 2, 1},
                                           ConvolutionShape{1, 8, 7, 1, 2, 7, 2, 3}));

// Batch normalisation with a residual, and its backward up to the gradient before ReLU.
struct Norm {
  BatchNormShape shape{7, 3};
  Activation activation = Activation::kNone;
  Values x = some(21, 1);
  Values residual = some(21, 2);
  Values gain = some(3, 3);
  Values bias = some(3, 4);
  Values y = Values(21);
  Values mean = Values(3);
  Values rstd = Values(3);
  Values running = Values(3);

  void forward() {
    naive_loops::batch_norm_forward<double>(shape,
                                            {.x = x.data(),
                                             .residual = residual.data(),
                                             .gain = gain.data(),
                                             .bias = bias.data(),
                                             .y = y.data(),
                                             .running_mean = running.data(),
                                             .running_variance = running.data(),
                                             .mean = mean.data(),
                                             .rstd = rstd.data()},
                                            {.activation = activation});
  }
};

class BatchNormGradient : public ::testing::TestWithParam<Activation> {};

TEST_P(BatchNormGradient, OfAllOperands_AreTheFiniteDifferences) {
  Norm norm{.activation = GetParam()};
  const Values dy = some(21, 5);
  const auto scalar = [&] {
    norm.forward();
    return along(norm.y, dy);
  };
  scalar();
  Values g = dy;
  for (std::size_t i = 0; i < g.size(); ++i) {
    if (GetParam() == Activation::kRelu && norm.y[i] <= 0) g[i] = 0;
  }
  Values dx(21);
  Values dgain(3);
  Values dbias(3);
  naive_loops::batch_norm_backward<double>(norm.shape, {.x = norm.x.data(),
                                                        .g = g.data(),
                                                        .gain = norm.gain.data(),
                                                        .mean = norm.mean.data(),
                                                        .rstd = norm.rstd.data(),
                                                        .dx = dx.data(),
                                                        .dgain = dgain.data(),
                                                        .dbias = dbias.data()});
  expect_slopes(scalar, norm.x, dx, 1e-6);
  expect_slopes(scalar, norm.residual, g);
  expect_slopes(scalar, norm.gain, dgain);
  expect_slopes(scalar, norm.bias, dbias);
}

INSTANTIATE_TEST_SUITE_P(Activations, BatchNormGradient,
                         ::testing::Values(Activation::kNone, Activation::kRelu));

TEST(PoolGradient, OfTheLargest_IsTheFiniteDifference) {
  const MaxPoolShape s{2, 5, 4, 2};
  Values x = some(s.input_count(), 1);
  const Values dy = some(s.output_count(), 2);
  Values y(dy.size());
  const auto scalar = [&] {
    naive_loops::max_pool_forward(s, x.data(), y.data());
    return along(y, dy);
  };
  scalar();
  Values dx(x.size());
  naive_loops::max_pool_backward(s, x.data(), y.data(), dy.data(), dx.data());
  expect_slopes(scalar, x, dx);
}

TEST(PoolGradient, OfTheMean_IsTheFiniteDifference) {
  const AveragePoolShape s{2, 6, 3};
  Values x = some(36, 1);
  const Values dy = some(6, 2);
  Values y(6);
  const auto scalar = [&] {
    naive_loops::average_pool_forward(s, x.data(), y.data());
    return along(y, dy);
  };
  Values dx(36);
  naive_loops::average_pool_backward(s, dy.data(), dx.data());
  expect_slopes(scalar, x, dx);
}

}  // namespace
}  // namespace tandem
