// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "common/optim/optimizer.h"
#include "tests/kernels/optimizer_fixture.h"
#include "tests/kernels/recording_operations.h"

namespace tandem {
namespace {

using AdamTest = OptimizerFixture;

// One weight's Adam as its paper has it: moments corrected for their bias, then the quotient.
struct PaperAdam {
  double weight = 0;
  double first = 0;
  double second = 0;
  int t = 0;

  void step(double gradient, const AdamOptions& o) {
    ++t;
    weight -= o.learning_rate * o.weight_decay * weight;  // AdamW's, of Loshchilov and Hutter
    first = o.beta1 * first + (1 - o.beta1) * gradient;
    second = o.beta2 * second + (1 - o.beta2) * gradient * gradient;
    const double corrected_first = first / (1 - std::pow(o.beta1, t));
    const double corrected_second = second / (1 - std::pow(o.beta2, t));
    weight -= o.learning_rate * corrected_first / (std::sqrt(corrected_second) + o.epsilon);
  }
};

TEST_F(AdamTest, Defaults_AreTorchs) {
  const AdamOptions options;
  EXPECT_EQ(options.learning_rate, 1e-3);
  EXPECT_EQ(options.beta1, 0.9);
  EXPECT_EQ(options.beta2, 0.999);
  EXPECT_EQ(options.epsilon, 1e-8);
  EXPECT_EQ(options.weight_decay, 0);
}

TEST_F(AdamTest, Steps_AreThoseOfThePaper) {
  for (const double decay : {0.0, 0.5}) {
    const AdamOptions options{.learning_rate = 0.1, .epsilon = 1e-3, .weight_decay = decay};
    const auto adam = make_optimizer(device(), 1, {.kind = OptimizerKind::kAdam, .adam = options});
    PaperAdam paper{.weight = 0.5};
    const Span<float> weight = filled({0.5F});
    for (const float value : {1.0F, -0.25F, 0.0F, 3.0F, 1e-3F, -2.0F}) {
      const Span<float> gradient = filled({value});
      adam->step(operations(), stream(), weight, gradient);
      stream().synchronize();
      paper.step(static_cast<double>(value), options);
      EXPECT_NEAR(*weight.data(), paper.weight, 1e-6) << "step " << paper.t << ", " << decay;
    }
  }
}

// Weights whose gradient is always 0 change by decay alone.
TEST_F(AdamTest, Decay_ShrinksWeightsWithoutAGradient) {
  const auto adamw = make_optimizer(
      device(), 1,
      {.kind = OptimizerKind::kAdamW, .adamw = {.learning_rate = 0.5, .weight_decay = 0.25}});
  const Span<float> weight = filled({8});
  for (int step = 0; step < 2; ++step) adamw->step(operations(), stream(), weight, zeros(1));
  stream().synchronize();
  EXPECT_FLOAT_EQ(*weight.data(), 8 * 0.875F * 0.875F);
}

// The bias corrections cancel in the first step: it is the learning rate, whatever the gradient.
TEST_F(AdamTest, FirstStep_IsTheLearningRateAgainstTheGradientsSign) {
  const auto adam = make_optimizer(device(), 3, {.kind = OptimizerKind::kAdam});
  const Span<float> weight = zeros(3);
  const Span<float> gradient = filled({100, -0.01F, 0});
  adam->step(operations(), stream(), weight, gradient);
  stream().synchronize();
  expect_near(weight, filled({-1e-3F, 1e-3F, 0}), 1e-8);
}

TEST_F(AdamTest, StepInPieces_IsOneUpdate) {
  RecordingOperations recorded;
  const auto adam = make_optimizer(device(), 5, {.kind = OptimizerKind::kAdam});
  const std::vector<Span<float>> weights{zeros(2), zeros(3)};
  const std::vector<Span<const float>> gradients{random(2), random(3)};
  adam->step(recorded, stream(), weights, gradients);
  adam->step(recorded, stream(), weights, gradients);
  ASSERT_EQ(recorded.adam.size(), 2U);
  const auto& tensors = recorded.adam[0].tensors;
  ASSERT_EQ(tensors.size(), 2U);
  EXPECT_EQ(tensors[1].first.data(), tensors[0].first.data() + 2);
  EXPECT_EQ(tensors[1].second.data(), tensors[0].second.data() + 2);
  EXPECT_EQ(recorded.adam[1].clock.data(), recorded.adam[0].clock.data());
}

TEST_F(AdamTest, InSegments_EqualsInOnePiece) {
  expect_segments_equal_one_piece(OptimizerKind::kAdam);
}

TEST_F(AdamTest, WithListsThatDoNotPairUp_IsALogicErrorAndNothingIsEnqueued) {
  RecordingOperations recorded;
  const auto adam = make_optimizer(device(), 4, {.kind = OptimizerKind::kAdam});
  EXPECT_THROW(adam->step(recorded, stream(), {zeros(4)}, {zeros(2), zeros(2)}), Error);
  EXPECT_THROW(adam->step(recorded, stream(), zeros(3), zeros(3)), Error);
  EXPECT_TRUE(recorded.adam.empty());
}

TEST_F(AdamTest, MakeOptimizer_MakesTheKindWithItsOptions) {
  RecordingOperations recorded;
  OptimizerOptions options{.sgd = {.momentum = 0.5F}, .adam = {.beta1 = 0.75}};
  make_optimizer(device(), 2, options)->step(recorded, stream(), zeros(2), zeros(2));
  ASSERT_EQ(recorded.sgd.size(), 1U);
  EXPECT_EQ(recorded.sgd[0].momentum, 0.5F);
  options.kind = OptimizerKind::kAdam;
  make_optimizer(device(), 2, options)->step(recorded, stream(), zeros(2), zeros(2));
  options.kind = OptimizerKind::kAdamW;
  make_optimizer(device(), 2, options)->step(recorded, stream(), zeros(2), zeros(2));
  ASSERT_EQ(recorded.adam.size(), 2U);
  EXPECT_EQ(recorded.adam[0].rates.beta1, 0.75);
  EXPECT_EQ(recorded.adam[0].rates.decay, 0);
  EXPECT_EQ(recorded.adam[1].rates.beta1, 0.9);
  EXPECT_EQ(recorded.adam[1].rates.decay, 1e-2);
}

}  // namespace
}  // namespace tandem
