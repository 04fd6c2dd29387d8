// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ddp/compression/power_sgd.h"

namespace tandem::test {
namespace {

TEST(LowRankShape, OfAMatrix_HasItsRankAsBatch) {
  EXPECT_EQ(ddp::low_rank_shape({100, 50}, {.rank = 4}),
            (LinearShape{.batch = 4, .in = 50, .out = 100}));
}

TEST(LowRankShape, OfMoreExtents_TakesTheFirstAgainstTheRest) {
  EXPECT_EQ(ddp::low_rank_shape({64, 32, 3, 3}, {.rank = 2}),
            (LinearShape{.batch = 2, .in = 288, .out = 64}));
}

TEST(LowRankShape, OfVectorsAndScalars_IsNone) {
  EXPECT_EQ(ddp::low_rank_shape({1'000'000}, {}), std::nullopt);
  EXPECT_EQ(ddp::low_rank_shape({}, {}), std::nullopt);
  EXPECT_EQ(ddp::low_rank_shape({0, 100}, {}), std::nullopt);
}

// (n + m) r * 2 < n m, strictly: 8 x 8 by rank 2 is 32 * 2 = 64.
TEST(LowRankShape, AtTheCompressionRate_IsNone) {
  EXPECT_EQ(ddp::low_rank_shape({8, 8}, {.rank = 2}), std::nullopt);
  EXPECT_NE(ddp::low_rank_shape({8, 9}, {.rank = 2}), std::nullopt);
  EXPECT_NE(ddp::low_rank_shape({8, 8}, {.rank = 1}), std::nullopt);
  EXPECT_NE(ddp::low_rank_shape({8, 8}, {.rank = 2, .min_compression_rate = 1.9}), std::nullopt);
}

TEST(LowRankShape, RankAboveTheMatrixs_IsTheMatrixs) {
  EXPECT_EQ(ddp::low_rank_shape({3, 1000}, {.rank = 100, .min_compression_rate = 0.9}),
            (LinearShape{.batch = 3, .in = 1000, .out = 3}));
}

TEST(LowRankPlan, OfABucket_PutsFactorsAndOthersSideBySide) {
  const ddp::LowRankPlan plan =
      ddp::plan_low_rank({{100, 50}, {100}, {40, 30}, {2, 2}}, {.rank = 2});
  ASSERT_EQ(plan.matrices.size(), 2U);
  EXPECT_EQ(plan.matrices[1].gradient, 2U);
  EXPECT_EQ(plan.matrices[1].offset_p, 200);
  EXPECT_EQ(plan.matrices[1].offset_q, 100);
  EXPECT_EQ(plan.matrices[1].offset_error, 5008);  // 5000, to the next cache line
  EXPECT_EQ(plan.count_p, 280);
  EXPECT_EQ(plan.count_q, 160);
  EXPECT_EQ(plan.count_error, 5008 + 1200);
  ASSERT_EQ(plan.others.size(), 2U);
  EXPECT_EQ(plan.others[1].gradient, 3U);
  EXPECT_EQ(plan.others[1].offset, 100);
  EXPECT_EQ(plan.count_others, 104);
}

}  // namespace
}  // namespace tandem::test
