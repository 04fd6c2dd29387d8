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
  EXPECT_EQ(tiles,
            (ScoreTiles{.batch = 5, .batches = 2, .stride = 16, .band = 9, .count = 10 * 9 * 16}));
  EXPECT_EQ(scratch_size(tiles, DType::kFloat32), Bytes{8 * tiles.count});
  EXPECT_EQ(scratch_size(tiles, DType::kBFloat16), Bytes{12 * tiles.count});
}

TEST(ScoreTiles, AreBatchesOfAboutTheSameSize_WhereMemoryIsNotEnough) {
  // 12 MiB a head in bf16: 21 fit.
  const AttentionShape xl{.batch = 1, .positions = 1024, .heads = 25, .head_width = 64};
  EXPECT_EQ(tiles_of(xl, DType::kBFloat16).batch, 13);
  EXPECT_EQ(tiles_of(xl, DType::kFloat32).batch, 25);
  const AttentionShape long_one{.batch = 1, .positions = 16384, .heads = 3, .head_width = 64};
  EXPECT_EQ(tiles_of(long_one, DType::kFloat32).batch, 1);
  // 0.5 MiB a head in fp32: 512 fit, 8 batches of 64.
  const AttentionShape short_one{.batch = 64, .positions = 256, .heads = 12, .head_width = 64};
  const ScoreTiles tiles = tiles_of(short_one, DType::kFloat32);
  EXPECT_TRUE(tiles.of_samples);
  EXPECT_EQ(tiles.batch, 64);
  EXPECT_EQ(tiles.batches, 6);  // of 12: two times, not 8 and 4
}

// As narrow as leaves the first product 128 tiles of 128 x 128.
TEST(ScoreTiles, BandsAreNarrow_WhereBatchesAreLarge) {
  const auto band = [](std::int64_t samples, std::int64_t positions) {
    const AttentionShape shape{
        .batch = samples, .positions = positions, .heads = 12, .head_width = 64};
    return tiles_of(shape, DType::kFloat32).band;
  };
  EXPECT_EQ(band(1, 1024), 512);
  EXPECT_EQ(band(32, 1024), 256);
  EXPECT_EQ(band(128, 512), 128);
  EXPECT_EQ(band(1, 128), 128);
  EXPECT_EQ(band(1, 100), 100);
}

TEST(AttentionPlan, Scores_AreFp32AndTakeHeadsAsTheyLie) {
  ScoreTiles tiles = tiles_of(kAttention, DType::kBFloat16);
  const auto plan_of = [&](const ScoreTiles& of) {
    return attention_plan(Product::kScores, kAttention, DType::kBFloat16, of, {4, 3, 20, 0, 7, 60});
  };
  const ProductPlan plan = plan_of(tiles);
  EXPECT_EQ(plan.count, 5);
  const StoredMatrix keys{.rows = 4,
                          .columns = 7,
                          .type = DType::kBFloat16,
                          .transposed = true,
                          .stride = 60,
                          .apart = 4};
  EXPECT_EQ(plan.a, keys);
  EXPECT_EQ(plan.b.columns, 3);
  EXPECT_EQ(plan.b.stride, 20);
  EXPECT_EQ(plan.d, (StoredMatrix{.rows = 7, .columns = 3, .stride = 16, .apart = 9 * 16}));
  EXPECT_EQ(to_string(plan), "attention_scores of 3 x 4 -> 7 in bf16");
  tiles.of_samples = true;
  EXPECT_EQ(plan_of(tiles).a.apart, 9 * 60);
}

TEST(AttentionPlan, Mixes_AreInTheOperandsType) {
  const ScoreTiles tiles = tiles_of(kAttention, DType::kBFloat16);
  const ProductPlan mix =
      attention_plan(Product::kMix, kAttention, DType::kBFloat16, tiles, {4, 3, 20, 0, 7, 60});
  EXPECT_EQ(mix.b.type, DType::kBFloat16);
  EXPECT_FALSE(mix.b.transposed);
  EXPECT_EQ(mix.d.stride, 20);
  const ProductPlan back = attention_plan(Product::kMixBackward, kAttention, DType::kBFloat16,
                                          tiles, {4, 5, 20, 4, 3, 60});
  EXPECT_TRUE(back.b.transposed);
  EXPECT_EQ(back.a.stride, 20);
  EXPECT_EQ(back.d.stride, 60);
  EXPECT_EQ(to_string(mix), "attention_mix of 3 x 7 -> 4 in bf16");
  EXPECT_EQ(to_string(back), "attention_mix_backward of 3 x 5 -> 4 in bf16");
}

}  // namespace
}  // namespace tandem::cuda
