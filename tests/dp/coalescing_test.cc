// SPDX-License-Identifier: Apache-2.0
#include "dp/coalescing.h"

#include <gtest/gtest.h>

#include "tests/support/layouts.h"

namespace tandem::test {
namespace {

constexpr Bytes kLimit = dp::kTorchCoalescedChunk;
constexpr std::int64_t kMib = floats_in(mib(1));

// Segments per chunk.
using SegmentCounts = std::vector<int>;

SegmentCounts sizes_of(const std::vector<dp::Chunk>& chunks) {
  SegmentCounts sizes;
  for (const dp::Chunk& chunk : chunks) sizes.push_back(chunk.segments);
  return sizes;
}

SegmentCounts broadcast_sizes(const std::vector<std::int64_t>& counts, Bytes limit = kLimit) {
  return sizes_of(dp::broadcast_chunks(layout_of(counts), limit));
}

SegmentCounts reduction_sizes(const std::vector<std::int64_t>& counts, Bytes limit = kLimit) {
  return sizes_of(dp::reduction_chunks(layout_of(counts), limit));
}

TEST(CoalescingTest, Limit_IsTorchsTenMebibytes) { EXPECT_EQ(kLimit.value, 10'485'760); }

// As torch 2.5, 2.9 and 2.15 send such tensors between pretended GPUs.
TEST(CoalescingTest, Broadcast_ReachingTheLimit_ClosesAtOnce) {
  EXPECT_EQ(broadcast_sizes({10 * kMib, 1}), (SegmentCounts{1, 1}));
  EXPECT_EQ(broadcast_sizes({10 * kMib - 1, 1, 7}), (SegmentCounts{2, 1}));
  EXPECT_EQ(broadcast_sizes({5 * kMib, 5 * kMib, 7}), (SegmentCounts{2, 1}));
  EXPECT_EQ(broadcast_sizes({5 * kMib - 1, 5 * kMib, 7}), (SegmentCounts{3}));
}

TEST(CoalescingTest, Broadcast_LastTensorOfAChunk_MayExceedTheLimit) {
  EXPECT_EQ(broadcast_sizes({kMib, 40 * kMib, kMib, kMib}), (SegmentCounts{2, 2}));
  EXPECT_EQ(broadcast_sizes(std::vector<std::int64_t>(5, 4 * kMib)), (SegmentCounts{3, 2}));
}

TEST(CoalescingTest, Broadcast_ManySmallOnes_FillUpToTheLimit) {
  EXPECT_EQ(broadcast_sizes(std::vector<std::int64_t>(21, kMib)), (SegmentCounts{10, 10, 1}));
}

TEST(CoalescingTest, Reduction_FillsUpToTheLimitExactly) {
  EXPECT_EQ(reduction_sizes(std::vector<std::int64_t>(20, kMib)), (SegmentCounts{10, 10}));
  EXPECT_EQ(reduction_sizes({5 * kMib, 5 * kMib, 1}), (SegmentCounts{2, 1}));
  EXPECT_EQ(reduction_sizes({5 * kMib, 5 * kMib + 1, 1}), (SegmentCounts{1, 2}));
}

TEST(CoalescingTest, Reduction_LargeTensor_StaysAlone) {
  EXPECT_EQ(reduction_sizes({kMib, 40 * kMib, kMib}), (SegmentCounts{1, 1, 1}));
  EXPECT_EQ(reduction_sizes({40 * kMib, kMib, kMib}),
            (SegmentCounts{1, 2}));  // no empty chunk before it
}

TEST(CoalescingTest, BothRules_LastChunkIsKept_AndNothingIsMadeOfNothing) {
  EXPECT_EQ(broadcast_sizes({1}), (SegmentCounts{1}));
  EXPECT_EQ(reduction_sizes({1}), (SegmentCounts{1}));
  EXPECT_TRUE(broadcast_sizes({}).empty());
  EXPECT_TRUE(reduction_sizes({}).empty());
}

TEST(CoalescingTest, BothRules_CoverEverySegmentOnceInOrder) {
  const ParameterLayout layout = layout_of({7, 33, 1, 500, 16, 9, 200, 200, 3});
  for (const auto& chunks :
       {dp::broadcast_chunks(layout, Bytes{400}), dp::reduction_chunks(layout, Bytes{400})}) {
    int next = 0;
    for (const dp::Chunk& chunk : chunks) {
      const auto& first = layout.segments()[static_cast<std::size_t>(chunk.first_segment)];
      EXPECT_EQ(chunk.first_segment, next);
      EXPECT_EQ(chunk.offset, first.offset);
      next += chunk.segments;
      const auto& last = layout.segments()[static_cast<std::size_t>(next - 1)];
      EXPECT_EQ(chunk.offset + chunk.count, last.offset + last.count);
    }
    EXPECT_EQ(next, layout.size());
  }
}

// Only what is in several pieces has to be flattened.
TEST(CoalescingTest, BothRules_FlattenChunksOfSeveralTensorsAlone) {
  const ParameterLayout layout = layout_of({7, 33, 1, 500, 16});
  for (const auto& chunks :
       {dp::broadcast_chunks(layout, Bytes{400}), dp::reduction_chunks(layout, Bytes{400})}) {
    for (const dp::Chunk& chunk : chunks) EXPECT_EQ(chunk.flattened, chunk.segments > 1);
  }
}

TEST(CoalescingTest, TensorsAndFlat_AreSentAsTheyLie) {
  const ParameterLayout layout = layout_of({7, 33, 1});
  EXPECT_EQ(sizes_of(dp::tensor_chunks(layout)), (SegmentCounts{1, 1, 1}));
  ASSERT_EQ(sizes_of(dp::flat_chunk(layout)), (SegmentCounts{3}));
  EXPECT_FALSE(dp::flat_chunk(layout).front().flattened);
  EXPECT_EQ(dp::flat_chunk(layout).front().offset, 0);
  EXPECT_EQ(dp::flat_chunk(layout).front().count, layout.segments().back().offset + 1);
}

}  // namespace
}  // namespace tandem::test
