// SPDX-License-Identifier: Apache-2.0
//
// The gradients' formulas against finite differences. All functions here but GELU are linear or
// quadratic in each input (away from the kink of ReLU), so that central differences in double are
// exact up to rounding.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/kernels/finite_differences.h"
#include "tests/kernels/naive/naive_loops.h"

namespace tandem {
namespace {

// One layer with a squared error on top.
struct Layer {
  LinearShape shape{.batch = 4, .in = 5, .out = 3};
  Activation activation = Activation::kNone;
  Values x = random_values(shape.batch * shape.in, 1);
  Values weight = random_values(shape.out * shape.in, 2);
  Values bias = random_values(shape.out, 3);  // empty: none
  Values target = random_values(shape.batch * shape.out, 4);
  Values before = Values(target.size());
  Values y = Values(target.size());
  Values dy = Values(target.size());

  double loss() {
    const double* const present = bias.empty() ? nullptr : bias.data();
    naive_loops::linear_forward(shape, x.data(), weight.data(), present, y.data(), activation);
    before = y;
    if (activation == Activation::kGelu) {
      naive_loops::gelu(std::ssize(y), before.data(), y.data());
    }
    return naive_loops::mse_loss(shape.batch * shape.out, y.data(), target.data(), dy.data());
  }

  // dy, as it arrives at the product.
  void backward_to_product() {
    loss();
    if (activation == Activation::kRelu) {
      naive_loops::relu_backward(shape.batch * shape.out, y.data(), dy.data());
    } else if (activation == Activation::kGelu) {
      naive_loops::gelu_backward(shape.batch * shape.out, before.data(), dy.data());
    }
  }
};

class Gradient : public ::testing::TestWithParam<Activation> {
 public:
  Gradient() {
    layer_.activation = GetParam();
    layer_.backward_to_product();
  }

  void expect_holds(Values& at, const Values& gradient) {
    expect_gradient([this] { return layer_.loss(); }, at, gradient);
  }

  Layer layer_;
};

TEST_P(Gradient, OfTheInput_IsTheFiniteDifference) {
  Values dx(layer_.x.size());
  naive_loops::linear_backward_input(layer_.shape, layer_.dy.data(), layer_.weight.data(),
                                     dx.data());
  expect_holds(layer_.x, dx);
}

TEST_P(Gradient, OfWeightAndBias_IsTheFiniteDifference) {
  Values dweight(layer_.weight.size());
  Values dbias(layer_.bias.size());
  naive_loops::linear_backward_weight(layer_.shape, layer_.x.data(), layer_.dy.data(),
                                      dweight.data(), dbias.data());
  expect_holds(layer_.weight, dweight);
  expect_holds(layer_.bias, dbias);
}

INSTANTIATE_TEST_SUITE_P(Activations, Gradient,
                         ::testing::Values(Activation::kNone, Activation::kRelu,
                                           Activation::kGelu));

TEST(ReluGradient, SeesBothSidesOfTheKink) {
  Layer layer{.activation = Activation::kRelu};
  layer.loss();
  const auto off = std::count(layer.y.begin(), layer.y.end(), 0.0);
  EXPECT_GT(off, 0);
  EXPECT_LT(off, std::ssize(layer.y));
}

TEST_P(Gradient, OfTheWeightWithoutBias_IsTheFiniteDifference) {
  layer_.bias.clear();
  layer_.backward_to_product();
  Values dweight(layer_.weight.size());
  naive_loops::linear_backward_weight<double>(layer_.shape, layer_.x.data(), layer_.dy.data(),
                                              dweight.data(), nullptr);
  expect_holds(layer_.weight, dweight);
}

TEST(MseGradient, TimesTheLosssOwn_IsTheFiniteDifference) {
  Values prediction = random_values(7, 1);
  const Values target = random_values(7, 2);
  Values gradient(7);
  naive_loops::mse_loss_backward(7, prediction.data(), target.data(), 0.25, gradient.data());
  const auto weighted = [&] {
    return 0.25 * naive_loops::mse_loss<double>(7, prediction.data(), target.data(), nullptr);
  };
  expect_gradient(weighted, prediction, gradient);
}

struct Logits {
  naive_loops::Classes shape{.rows = 3, .classes = 5};
  Values prediction = random_values(15, 1);
  Values target{4, 0, 2};
  Values gradient = Values(15);

  double loss() {
    return naive_loops::cross_entropy<double>(shape, prediction.data(), target.data(), nullptr);
  }
};

TEST(CrossEntropyGradient, OfThePrediction_IsTheFiniteDifference) {
  Logits logits;
  naive_loops::cross_entropy(logits.shape, logits.prediction.data(), logits.target.data(),
                             logits.gradient.data());
  expect_gradient([&] { return logits.loss(); }, logits.prediction, logits.gradient);
}

TEST(CrossEntropyGradient, TimesTheLosssOwn_IsTheFiniteDifference) {
  Logits logits;
  naive_loops::cross_entropy_backward(logits.shape, logits.prediction.data(), logits.target.data(),
                                      0.25, logits.gradient.data());
  expect_gradient([&] { return 0.25 * logits.loss(); }, logits.prediction, logits.gradient);
}

TEST(MseGradient, OfThePrediction_IsTheFiniteDifference) {
  Values prediction = random_values(7, 1);
  const Values target = random_values(7, 2);
  Values gradient(7);
  Values ignored(7);
  naive_loops::mse_loss(7, prediction.data(), target.data(), gradient.data());
  const auto loss = [&] {
    return naive_loops::mse_loss(7, prediction.data(), target.data(), ignored.data());
  };
  expect_gradient(loss, prediction, gradient);
}

}  // namespace
}  // namespace tandem
