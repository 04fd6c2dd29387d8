// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "bench/passes/verification.h"
#include "common/model/zoo.h"
#include "common/parallel/single.h"
#include "common/runtime/host/host_platform.h"

namespace tandem::bench {
namespace {

constexpr int kRanks = 8;
constexpr std::int64_t kShare = 4;

// The gradients of one backward on `shard` alone: the mean over the samples of `shard`.
TensorValues gradients_of(const Model& model, const Shard& shard) {
  const auto platform = host::make_host_platform({});
  Single single(*platform, platform->device(0), model, shard, {.global_batch = kRanks * kShare});
  single.step();
  single.synchronize();
  return values_of(*platform, single.gradients());
}

template <class Change>
TensorValues changed(TensorValues tensors, Change change) {
  for (auto& tensor : tensors) {
    for (float& value : tensor) value = change(value);
  }
  return tensors;
}

void add(TensorValues& sum, const TensorValues& more, float factor) {
  for (std::size_t i = 0; i < sum.size(); ++i) {
    for (std::size_t j = 0; j < sum[i].size(); ++j) sum[i][j] += factor * more[i][j];
  }
}

// The gradients of a batch that eight ranks share, and each rank's part of them.
class TrainingAgreementTest : public testing::Test {
 protected:
  TrainingAgreementTest() {
    const auto model = make_model("mlp-tiny");
    whole_ = gradients_of(*model, {0, kRanks * kShare});
    for (int rank = 0; rank < kRanks; ++rank) {
      shares_.push_back(gradients_of(*model, {rank * kShare, kShare}));
    }
  }

  [[nodiscard]] TensorValues without(int rank) const {
    TensorValues rest = whole_;
    add(rest, shares_[static_cast<std::size_t>(rank)], -1.0F / kRanks);
    return rest;
  }

  // In the widest bounds that there are.
  [[nodiscard]] bool agree(const TensorValues& gradients) const {
    const Disagreement found = disagreement({{whole_}, whole_}, {{gradients}, whole_});
    return within(found, bounds_of(Precision::kBf16, Rounding::kApart));
  }

  TensorValues whole_;
  std::vector<TensorValues> shares_;
};

TEST_F(TrainingAgreementTest, Shares_AddUpToTheBatch) {
  TensorValues rest = without(0);
  for (int rank = 1; rank < kRanks; ++rank) {
    add(rest, shares_[static_cast<std::size_t>(rank)], -1.0F / kRanks);
  }
  TensorValues sum = whole_;
  add(sum, rest, 1);
  EXPECT_LT(relative_difference(whole_, sum), 1e-5);
}

TEST_F(TrainingAgreementTest, ASilentRankOfEight_IsSeen_WhicheverItIs) {
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_FALSE(agree(without(rank))) << rank;
    EXPECT_GT(projection_error(whole_, without(rank)), 1.0 / 32) << rank;
  }
}

TEST_F(TrainingAgreementTest, ADoubledGradient_IsSeen) {
  EXPECT_FALSE(agree(changed(whole_, [](float value) { return 2 * value; })));
  TensorValues one = whole_;
  for (float& value : one.back()) value *= 2;
  EXPECT_FALSE(agree(one));
}

TEST_F(TrainingAgreementTest, AZeroedTensor_IsSeen_WhicheverItIs) {
  for (std::size_t tensor = 0; tensor < whole_.size(); ++tensor) {
    TensorValues zeroed = whole_;
    zeroed[tensor].assign(zeroed[tensor].size(), 0);
    EXPECT_FALSE(agree(zeroed)) << tensor;
  }
}

TEST_F(TrainingAgreementTest, AnotherSharesGradients_AreSeen) { EXPECT_FALSE(agree(shares_[0])); }

TEST_F(TrainingAgreementTest, ANumberThatIsNone_IsSeen) {
  TensorValues broken = whole_;
  broken.front().front() = NAN;
  EXPECT_FALSE(agree(broken));
}

// Each number cut to what bf16 holds: up to 2^-7 of itself, and always towards 0.
TEST_F(TrainingAgreementTest, NumbersOfANarrowFormat_Agree) {
  EXPECT_TRUE(agree(changed(whole_, [](float value) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffff0000U);
  })));
}

// What ReLU decides otherwise for one sample: its whole part in a row of a gradient, which for that
// element may be half of the tensor's largest.
TEST_F(TrainingAgreementTest, ASamplesPartInOneRow_IsRounding) {
  TensorValues other = whole_;
  auto& tensor = other.front();
  float largest = 0;
  for (const float value : tensor) largest = std::max(largest, std::abs(value));
  tensor.front() += largest / 2;
  EXPECT_TRUE(agree(other));
  const Disagreement found = disagreement({{whole_}, whole_}, {{other}, whole_});
  EXPECT_FALSE(within(found, bounds_of(Precision::kFp32, Rounding::kApart)));
  EXPECT_FALSE(within(found, bounds_of(Precision::kBf16, Rounding::kAlike)));
}

// A gradient of 0 but for rounding becomes whole steps, which gradients compared one by one do not
// show: they are small beside their tensor's largest.
TEST_F(TrainingAgreementTest, WeightsAfterNormalisedSteps_CountWhereGradientsAreNoRounding) {
  EXPECT_EQ(steps_of(OptimizerKind::kSgd), Steps::kByGradient);
  EXPECT_EQ(steps_of(OptimizerKind::kAdam), Steps::kNormalised);
  EXPECT_EQ(steps_of(OptimizerKind::kAdamW), Steps::kNormalised);
  const Disagreement bounds = bounds_of(Precision::kFp32, Rounding::kAlike);
  const auto with_first = [&](float value) {
    TensorValues tensors = whole_;
    tensors.front().front() = value;
    return tensors;
  };
  float largest = 0;
  for (const float value : whole_.front()) largest = std::max(largest, std::abs(value));
  for (const float gradient : {1e-6F * largest, 0.5F * largest}) {
    const bool is_rounding = gradient < 1e-3F * largest;
    const TrainedValues reference{{with_first(gradient)}, with_first(0.25F * largest)};
    const TrainedValues other{{with_first(gradient)}, with_first(0.26F * largest)};
    EXPECT_FALSE(within(disagreement(reference, other), bounds));
    EXPECT_EQ(within(disagreement(reference, other, Steps::kNormalised), bounds), is_rounding);
  }
  const TensorValues half = changed(whole_, [](float value) { return value / 2; });
  const TrainedValues reference{{whole_}, whole_};
  EXPECT_FALSE(within(disagreement(reference, {{whole_}, half}, Steps::kNormalised), bounds));
  EXPECT_FALSE(within(disagreement(reference, {{half}, whole_}, Steps::kNormalised), bounds));
}

TEST_F(TrainingAgreementTest, EveryStepAndTheWeightsCount) {
  const TensorValues half = changed(whole_, [](float value) { return value / 2; });
  const TrainedValues reference{{whole_, whole_}, whole_};
  for (const TrainedValues& other :
       {TrainedValues{{half, whole_}, whole_}, TrainedValues{{whole_, half}, whole_},
        TrainedValues{{whole_, whole_}, half}}) {
    const Disagreement found = disagreement(reference, other);
    EXPECT_NEAR(found.distance, 0.5, 1e-6);
    EXPECT_NEAR(found.projection, 0.5, 1e-6);
    EXPECT_NEAR(found.element, 0.5, 1e-6);
  }
}

// By hand: (3, 4) against (3, 5) and (0, 0).
TEST(DistanceTest, IsThatOfTheWorstTensor) {
  const TensorValues reference{{3, 4}, {0, 0}};
  EXPECT_NEAR(relative_distance(reference, {{3, 5}, {0, 0}}), 1.0 / 5, 1e-9);
  EXPECT_NEAR(projection_error(reference, {{3, 5}, {0, 0}}), 4.0 / 25, 1e-9);
  EXPECT_NEAR(relative_distance(reference, {{3, 4}, {0, 0.5}}), 0.5, 1e-9);
  EXPECT_EQ(projection_error(reference, {{3, 4}, {0, 0.5}}), 0);
  EXPECT_NEAR(projection_error(reference, {{3 + 4, 4 - 3}, {0, 0}}), 0, 1e-9);  // across
}

TEST(RoundingTest, IsAlikeOfOnePart_AndOnTheHostOfAPowerOfTwoOfEqualOnes) {
  for (const Backend backend : {Backend::kHost, Backend::kCuda}) {
    EXPECT_EQ(rounding_of(backend, chunk_batch(24, 1)), Rounding::kAlike);
    EXPECT_EQ(rounding_of(backend, chunk_batch(24, 3)), Rounding::kApart);
  }
  EXPECT_EQ(rounding_of(Backend::kHost, chunk_batch(24, 8)), Rounding::kAlike);
  EXPECT_EQ(rounding_of(Backend::kHost, chunk_batch(7, 2)), Rounding::kApart);
  EXPECT_EQ(rounding_of(Backend::kCuda, chunk_batch(24, 4)), Rounding::kApart);
}

// Steps are compared one by one, and the weights of each step count.
TEST_F(TrainingAgreementTest, AWrongUpdateBeforeTheLast_IsSeen) {
  TensorValues wrong = whole_;
  wrong.front().front() += 1;
  const TrainedValues reference{
      .gradients = {whole_, whole_}, .weights = whole_, .updated = {whole_}};
  const TrainedValues other{.gradients = {whole_, whole_}, .weights = whole_, .updated = {wrong}};
  const Disagreement bounds = bounds_of(Precision::kFp32, Rounding::kAlike);
  EXPECT_TRUE(within(disagreement(reference, reference), bounds));
  EXPECT_FALSE(within(disagreement(reference, other), bounds));
}

TEST(ProjectionBoundTest, IsPassedByNoMissingPartOfUpToThirtyTwo) {
  for (const Precision precision : kPrecisions) {
    for (const Rounding rounding : {Rounding::kAlike, Rounding::kApart}) {
      EXPECT_LE(bounds_of(precision, rounding).projection, 0.5 / 32);
    }
  }
}

}  // namespace
}  // namespace tandem::bench
