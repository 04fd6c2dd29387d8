// SPDX-License-Identifier: Apache-2.0
#include "ddp/bucket_plan.h"

#include <gtest/gtest.h>

#include "tests/support/layouts.h"

namespace tandem::test {
namespace {

// Segments per bucket, in order.
using Segments = std::vector<std::vector<int>>;

Segments segments_of(const std::vector<ddp::BucketPlan>& plans) {
  Segments all;
  for (const ddp::BucketPlan& plan : plans) {
    all.emplace_back();
    for (const auto& slot : plan.slots) all.back().push_back(slot.segment);
  }
  return all;
}

Segments plan(const std::vector<std::int64_t>& counts, const std::vector<int>& order, Bytes first,
              Bytes rest) {
  return segments_of(ddp::plan_buckets(layout_of(counts), order, {first, rest}));
}

TEST(BucketPlanTest, FirstBucket_HasItsOwnLimit) {
  EXPECT_EQ(plan({1, 1, 1, 1, 1}, {0, 1, 2, 3, 4}, Bytes{4}, Bytes{8}),
            (Segments{{0}, {1, 2}, {3, 4}}));
}

TEST(BucketPlanTest, Bucket_ClosesWhenItHoldsItsLimit_NotBefore) {
  EXPECT_EQ(plan({2, 2, 2, 2}, {0, 1, 2, 3}, Bytes{16}, Bytes{17}), (Segments{{0, 1}, {2, 3}}));
  EXPECT_EQ(plan({2, 2, 2, 2}, {0, 1, 2, 3}, Bytes{17}, Bytes{17}), (Segments{{0, 1, 2}, {3}}));
}

TEST(BucketPlanTest, HugeTensor_LandsInTheOpenBucket) {
  EXPECT_EQ(plan({1, 1000, 1, 1}, {0, 1, 2, 3}, Bytes{8}, Bytes{8}), (Segments{{0, 1}, {2, 3}}));
}

TEST(BucketPlanTest, Order_IsTheGivenOne_NotSorted) {
  EXPECT_EQ(plan({1, 1, 1, 1}, {3, 2, 0, 1}, Bytes{4}, Bytes{8}), (Segments{{3}, {2, 0}, {1}}));
}

TEST(BucketPlanTest, GapsOfAlignment_DoNotCountTowardsTheLimit) {
  const ParameterLayout layout = layout_of({1, 1, 17});
  const auto plans = ddp::plan_buckets(layout, {2, 1, 0}, {Bytes{72}, Bytes{72}});
  ASSERT_EQ(plans.size(), 2U);  // 17 + 1 elements are 72 bytes
  EXPECT_EQ(plans[0].gradient_bytes, Bytes{72});
  EXPECT_EQ(plans[0].slots[0].offset, 0);
  EXPECT_EQ(plans[0].slots[1].offset, 64);
  EXPECT_EQ(plans[0].count, 128);
}

TEST(BucketPlanTest, Slots_DoNotOverlapAndStartAt256Bytes) {
  const ParameterLayout layout = layout_of({5, 16, 100, 1, 31});
  for (const ddp::BucketPlan& bucket :
       ddp::plan_buckets(layout, {4, 3, 2, 1, 0}, {Bytes{64}, Bytes{128}})) {
    std::int64_t free_from = 0;
    for (const auto& slot : bucket.slots) {
      EXPECT_EQ(slot.offset % 64, 0);
      EXPECT_GE(slot.offset, free_from);
      EXPECT_EQ(slot.count, layout.segments()[static_cast<std::size_t>(slot.segment)].count);
      free_from = slot.offset + slot.count;
    }
    EXPECT_LE(free_from, bucket.count);
  }
}

TEST(BucketPlanTest, OneBucket_HoldsAllInRegistrationOrder) {
  const ParameterLayout layout = layout_of({100'000'000, 1, 2});
  EXPECT_EQ(segments_of(ddp::plan_one_bucket(layout)), (Segments{{0, 1, 2}}));
}

TEST(BucketPlanTest, TorchsDefaults_CloseTheFirstBucketAtOneMebibyte) {
  const std::int64_t kib300 = floats_in(kib(300));
  EXPECT_EQ(plan(std::vector<std::int64_t>(100, kib300), {0, 1, 2, 3, 4, 5, 6, 7}, mib(1), mib(25)),
            (Segments{{0, 1, 2, 3}, {4, 5, 6, 7}}));
}

}  // namespace
}  // namespace tandem::test
