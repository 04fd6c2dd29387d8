// SPDX-License-Identifier: Apache-2.0
//
// How attention's heads are batched, and its products in cuBLASLt's terms.
#include <gtest/gtest.h>

#include "common/kernels/cuda/attention.h"

namespace tandem::cuda {
namespace {

constexpr AttentionShape kAttention{.batch = 2, .positions = 9, .heads = 5, .head_width = 4};

TEST(ScoreTiles, RowsAreWholePacksOfEitherType) {
  const ScoreTiles tiles = tiles_of(kAttention, DType::kFloat32);
  EXPECT_EQ(tiles, (ScoreTiles{.heads = 5, .stride = 16, .count = 5 * 9 * 16}));
  EXPECT_EQ(scratch_size(tiles, DType::kFloat32), Bytes{8 * tiles.count});
  EXPECT_EQ(scratch_size(tiles, DType::kBFloat16), Bytes{12 * tiles.count});
}

TEST(ScoreTiles, AreBatchesOfAboutTheSameSize_WhereMemoryIsNotEnough) {
  // 12 MiB a head in bf16: 21 fit.
  const AttentionShape xl{.batch = 1, .positions = 1024, .heads = 25, .head_width = 64};
  EXPECT_EQ(tiles_of(xl, DType::kBFloat16).heads, 13);
  EXPECT_EQ(tiles_of(xl, DType::kFloat32).heads, 25);
  const AttentionShape long_one{.batch = 1, .positions = 16384, .heads = 3, .head_width = 64};
  EXPECT_EQ(tiles_of(long_one, DType::kFloat32).heads, 1);
}

TEST(AttentionPlan, Scores_AreFp32AndTakeHeadsAsTheyLie) {
  const ScoreTiles tiles = tiles_of(kAttention, DType::kBFloat16);
  const ProductPlan plan = scores_plan(kAttention, DType::kBFloat16, tiles, 3, 20);
  EXPECT_EQ(plan.count, 3);
  EXPECT_EQ(plan.a, (StoredMatrix{.rows = 4,
                                  .columns = 9,
                                  .type = DType::kBFloat16,
                                  .transposed = true,
                                  .stride = 60,
                                  .apart = 4}));
  EXPECT_EQ(plan.b.stride, 20);
  EXPECT_EQ(plan.d, (StoredMatrix{.rows = 9, .columns = 9, .stride = 16, .apart = 9 * 16}));
  EXPECT_EQ(to_string(plan), "attention_scores of 9 x 4 -> 9 in bf16");
}

TEST(AttentionPlan, Mixes_AreInTheOperandsType) {
  const ScoreTiles tiles = tiles_of(kAttention, DType::kBFloat16);
  const ProductPlan mix = mix_plan(kAttention, DType::kBFloat16, tiles, 5, 20);
  EXPECT_EQ(mix.b.type, DType::kBFloat16);
  EXPECT_FALSE(mix.b.transposed);
  EXPECT_EQ(mix.d.stride, 20);
  const ProductPlan back = mix_backward_plan(kAttention, DType::kBFloat16, tiles, 5, 20);
  EXPECT_TRUE(back.b.transposed);
  EXPECT_EQ(back.a.stride, 20);
  EXPECT_EQ(back.d.stride, 60);
  EXPECT_EQ(to_string(mix), "attention_mix of 9 x 9 -> 4 in bf16");
  EXPECT_EQ(to_string(back), "attention_mix_backward of 9 x 9 -> 4 in bf16");
}

}  // namespace
}  // namespace tandem::cuda
