// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "common/model/model.h"
#include "common/model/zoo.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

constexpr std::int64_t kClasses = 3;

// Rows of three classes, and the class of each.
const std::vector<float> kPrediction{0.5F, -1, 2, 0, 0, 0, 1, 3, -2, -0.5F, 0.25F, 1};
const std::vector<float> kClass{2, 0, 0, 1};

class ObjectiveTest : public testing::TestWithParam<Objective> {
 protected:
  // Loss and gradient of `rows` rows from `first` on, by the objective.
  struct Result {
    double loss = 0;
    std::vector<float> gradient;
  };

  ObjectiveTest() {
    put(device_, prediction_->as<float>(), kPrediction);
    const auto width = static_cast<std::int64_t>(target_values().size());
    put(device_, target_->as<float>().subspan(0, width), target_values());
  }

  static std::vector<float> target_values() {
    if (GetParam().kind == ObjectiveKind::kCrossEntropy) return kClass;
    return {1, 0, -1, 0.5F, 0.5F, 2, 0, 0, 0, 3, -3, 1};
  }
  static std::int64_t target_width() {
    return static_cast<std::int64_t>(target_values().size()) / 4;
  }

  Span<const float> prediction(std::int64_t first, std::int64_t rows) {
    return prediction_->as<float>().subspan(first * kClasses, rows * kClasses);
  }
  Span<const float> target(std::int64_t first, std::int64_t rows) {
    return target_->as<float>().subspan(first * target_width(), rows * target_width());
  }

  Result loss_of(std::int64_t first, std::int64_t rows) {
    const Span<float> gradient = gradient_->as<float>().subspan(0, rows * kClasses);
    const Span<float> loss = loss_->as<float>();
    enqueue_loss(*operations_, *stream_, GetParam(),
                 {prediction(first, rows), target(first, rows), gradient, loss});
    stream_->synchronize();
    return {read_back<float>(device_, loss).front(), read_back<float>(device_, gradient)};
  }

  const std::unique_ptr<Platform> platform_ = host_devices(1);
  Device& device_ = platform_->device(0);
  const std::unique_ptr<Operations> operations_ = make_operations(device_);
  const std::unique_ptr<Buffer> prediction_ = device_.allocate(bytes_of<float>(12));
  const std::unique_ptr<Buffer> target_ = device_.allocate(bytes_of<float>(12));
  const std::unique_ptr<Buffer> gradient_ = device_.allocate(bytes_of<float>(12));
  const std::unique_ptr<Buffer> loss_ = device_.allocate(bytes_of<float>(1));
  const std::unique_ptr<Stream> stream_ = device_.make_stream(StreamPriority::kNormal);
};

// From what is written down in losses.h, in doubles.
double plain_loss(const Objective& objective, const std::vector<float>& targets) {
  double sum = 0;
  for (std::size_t row = 0; row < 4; ++row) {
    double exponentials = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const double p = kPrediction[3 * row + c];
      exponentials += std::exp(p);
      if (objective.kind == ObjectiveKind::kCrossEntropy) continue;
      sum += (p - targets[3 * row + c]) * (p - targets[3 * row + c]) / 12;
    }
    if (objective.kind == ObjectiveKind::kMeanSquaredError) continue;
    const double chosen = kPrediction[3 * row + static_cast<std::size_t>(targets[row])];
    sum += (std::log(exponentials) - chosen) / 4;
  }
  return sum;
}

TEST_P(ObjectiveTest, Loss_IsItsMean) {
  EXPECT_NEAR(loss_of(0, 4).loss, plain_loss(GetParam(), target_values()), 1e-6);
}

// What dp's loss in the replicas, ddp's average and micro-batches rest on.
TEST_P(ObjectiveTest, MeansOverPieces_WeightedByTheirRows_AreTheMeanOfAll) {
  const Result whole = loss_of(0, 4);
  const Result three = loss_of(0, 3);
  const Result one = loss_of(3, 1);
  EXPECT_NEAR(0.75 * three.loss + 0.25 * one.loss, whole.loss, 1e-6);
  for (std::size_t i = 0; i < 12; ++i) {
    const float part = i < 9 ? 0.75F * three.gradient[i] : 0.25F * one.gradient[i - 9];
    EXPECT_NEAR(part, whole.gradient[i], 1e-6) << i;
  }
}

TEST_P(ObjectiveTest, Backward_IsTheGradientTimesWhatArrives) {
  const Result alone = loss_of(0, 4);
  put(device_, loss_->as<float>(), {-2});
  enqueue_loss(*operations_, *stream_, GetParam(),
               {.prediction = prediction(0, 4),
                .target = target(0, 4),
                .gradient = gradient_->as<float>(),
                .loss_gradient = loss_->as<float>()});
  stream_->synchronize();
  const std::vector<float> found = read_back<float>(device_, gradient_->as<float>());
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(found[i], -2 * alone.gradient[i], 1e-6) << i;
}

TEST_P(ObjectiveTest, WithoutAGradient_IsTheLossAlone) {
  const double expected = loss_of(0, 4).loss;
  put(device_, gradient_->as<float>(), std::vector<float>(12, 7));
  enqueue_loss(*operations_, *stream_, GetParam(),
               {prediction(0, 4), target(0, 4), {}, loss_->as<float>()});
  stream_->synchronize();
  EXPECT_EQ(read_back<float>(device_, loss_->as<float>()).front(), static_cast<float>(expected));
  EXPECT_EQ(read_back<float>(device_, gradient_->as<float>()), std::vector<float>(12, 7));
}

INSTANTIATE_TEST_SUITE_P(Kinds, ObjectiveTest,
                         testing::Values(Objective{.target_width = kClasses},
                                         Objective{.kind = ObjectiveKind::kCrossEntropy,
                                                   .target_width = 1,
                                                   .classes = kClasses}));

TEST(ModelObjectiveTest, ByDefault_IsTheSquaredErrorOfAllOutputs) {
  const Objective objective = make_padded()->objective();
  EXPECT_EQ(objective.kind, ObjectiveKind::kMeanSquaredError);
  EXPECT_EQ(objective.target_width, 800);
}

}  // namespace
}  // namespace tandem::test
