// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/parallel/shards.h"
#include "tests/support/errors.h"

namespace tandem::test {
namespace {

struct ChunkCase {
  std::int64_t batch;
  int devices;
  std::vector<std::int64_t> sizes;
};

class ChunkRuleTest : public testing::TestWithParam<ChunkCase> {};

TEST_P(ChunkRuleTest, Pieces_AreTorchsAndFollowOneAnother) {
  const std::vector<Shard> shards = chunk_batch(GetParam().batch, GetParam().devices);
  std::vector<std::int64_t> sizes;
  std::int64_t next = 0;
  for (const Shard& shard : shards) {
    EXPECT_EQ(shard.first, next);
    sizes.push_back(shard.count);
    next += shard.count;
  }
  EXPECT_EQ(sizes, GetParam().sizes);
  EXPECT_EQ(next, GetParam().batch);
}

INSTANTIATE_TEST_SUITE_P(Torch, ChunkRuleTest,
                         testing::Values(ChunkCase{10, 4, {3, 3, 3, 1}},
                                         ChunkCase{9, 4, {3, 3, 3}},  // one device idle
                                         ChunkCase{6, 4, {2, 2, 2}},  //
                                         ChunkCase{5, 4, {2, 2, 1}},
                                         ChunkCase{33, 8, {5, 5, 5, 5, 5, 5, 3}},
                                         ChunkCase{36, 7, {6, 6, 6, 6, 6, 6}},
                                         ChunkCase{3, 8, {1, 1, 1}},  // fewer samples than devices
                                         ChunkCase{1, 4, {1}},        //
                                         ChunkCase{8, 4, {2, 2, 2, 2}}, ChunkCase{7, 1, {7}}));

TEST(ChunkRuleTest, NoSample_IsALogicError) {
  EXPECT_EQ(error_of([] { static_cast<void>(chunk_batch(0, 2)); }).kind(), ErrorKind::kLogic);
  EXPECT_EQ(error_of([] { static_cast<void>(chunk_batch(2, 0)); }).kind(), ErrorKind::kLogic);
}

TEST(ShareOfBatchTest, Shares_AreEqualAndInRankOrder) {
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(share_of_batch(12, rank, 3), (Shard{4 * rank, 4}));
  }
}

TEST(ShareOfBatchTest, UnevenBatch_IsAUsageErrorThatSaysWhatFits) {
  const Error error = error_of([] { static_cast<void>(share_of_batch(13, 0, 3)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "multiple of 3")) << error.what();
}

}  // namespace
}  // namespace tandem::test
