// SPDX-License-Identifier: Apache-2.0
#include "common/data/synthetic_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "common/parallel/shards.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

constexpr std::int64_t kBatch = 22;
constexpr std::int64_t kInputs = 7;
constexpr std::int64_t kTargets = 3;

struct Samples {
  std::vector<float> inputs;
  std::vector<float> targets;

  bool operator==(const Samples&) const = default;
};

class SyntheticBatchTest : public testing::TestWithParam<Distribution> {
 protected:
  Samples samples(std::int64_t first, std::int64_t count, std::uint64_t seed = 1) {
    const SyntheticBatch batch(*platform_, {first, count, kInputs, kTargets}, seed, GetParam());
    EXPECT_EQ(batch.count(), count);
    return {{batch.inputs().begin(), batch.inputs().end()},
            {batch.targets().begin(), batch.targets().end()}};
  }

  // The whole batch, put together from pieces.
  Samples from(const std::vector<Shard>& pieces) {
    Samples all;
    for (const Shard& piece : pieces) {
      const Samples some = samples(piece.first, piece.count);
      all.inputs.insert(all.inputs.end(), some.inputs.begin(), some.inputs.end());
      all.targets.insert(all.targets.end(), some.targets.begin(), some.targets.end());
    }
    return all;
  }

  const std::unique_ptr<Platform> platform_ = host_devices(1);
};

TEST_P(SyntheticBatchTest, Samples_AreTheSameHoweverTheBatchIsCut) {
  const Samples whole = samples(0, kBatch);
  ASSERT_EQ(whole.inputs.size(), static_cast<std::size_t>(kBatch * kInputs));
  for (const int devices : {2, 3, 4, 5, 22}) {
    EXPECT_EQ(from(chunk_batch(kBatch, devices)), whole) << devices;
  }
  EXPECT_EQ(from({share_of_batch(kBatch, 0, 2), share_of_batch(kBatch, 1, 2)}), whole);
}

TEST_P(SyntheticBatchTest, Samples_FollowTheSeed) {
  EXPECT_EQ(samples(0, kBatch, 9), samples(0, kBatch, 9));
  EXPECT_NE(samples(0, kBatch, 9).inputs, samples(0, kBatch, 10).inputs);
  EXPECT_NE(samples(0, kBatch, 9).targets, samples(0, kBatch, 10).targets);
}

TEST_P(SyntheticBatchTest, Targets_RepeatNoInputs) {
  const SyntheticBatch batch(*platform_, {0, kBatch, kInputs, kInputs}, 1, GetParam());
  EXPECT_FALSE(std::equal(batch.inputs().begin(), batch.inputs().end(), batch.targets().begin()));
}

TEST_P(SyntheticBatchTest, Padding_IsZerosBehindEachSamplesOwnLength) {
  const std::vector<float> full = samples(1, 2).inputs;
  BatchShape shape{1, 2, kInputs, kTargets};
  shape.input_lengths = {0, kInputs, 1};  // by global sample: of these two, all and one element
  const SyntheticBatch batch(*platform_, shape, 1, GetParam());
  std::vector<float> expected = full;
  std::fill(expected.begin() + kInputs + 1, expected.end(), 0.0F);
  EXPECT_EQ(std::vector<float>(batch.inputs().begin(), batch.inputs().end()), expected);
}

TEST_P(SyntheticBatchTest, Values_HaveUnitScaleAndBothSigns) {
  const std::vector<float> values = samples(0, kBatch).inputs;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*least, -1.0F);
  EXPECT_LT(*least, -0.5F);
  EXPECT_LE(*most, 1.0F);
  EXPECT_GT(*most, 0.5F);
}

TEST_P(SyntheticBatchTest, Classes_AreWholeNumbersBelowTheirCount_AllOfThem) {
  BatchShape shape{0, 200, kInputs, kTargets};
  shape.input_classes = 5;
  shape.target_classes = 50257;
  const SyntheticBatch batch(*platform_, shape, 1, GetParam());
  std::vector<int> often(5);
  for (const float id : batch.inputs()) ++often.at(static_cast<std::size_t>(id));
  for (const int count : often) EXPECT_NEAR(count, 200 * kInputs / 5, 60);
  for (const float target : batch.targets()) {
    EXPECT_EQ(target, std::floor(target));
    EXPECT_GE(target, 0);
    EXPECT_LT(target, 50257);
  }
  EXPECT_GT(*std::max_element(batch.targets().begin(), batch.targets().end()), 45000);
}

TEST_P(SyntheticBatchTest, ClassesOfASample_AreTheSameHoweverTheBatchIsCut) {
  BatchShape shape{0, kBatch, kInputs, kTargets};
  shape.input_classes = 512;
  shape.target_classes = 7;
  const SyntheticBatch whole(*platform_, shape, 1, GetParam());
  for (const Shard& piece : chunk_batch(kBatch, 3)) {
    shape.first = piece.first;
    shape.count = piece.count;
    const SyntheticBatch part(*platform_, shape, 1, GetParam());
    EXPECT_TRUE(std::equal(part.inputs().begin(), part.inputs().end(),
                           whole.inputs().begin() + piece.first * kInputs));
    EXPECT_TRUE(std::equal(part.targets().begin(), part.targets().end(),
                           whole.targets().begin() + piece.first * kTargets));
  }
}

INSTANTIATE_TEST_SUITE_P(Distributions, SyntheticBatchTest,
                         testing::Values(Distribution::kUniform, Distribution::kSmallIntegers));

}  // namespace
}  // namespace tandem::test
