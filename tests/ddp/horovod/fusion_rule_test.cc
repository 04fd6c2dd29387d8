// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "ddp/horovod/horovod_reducer.h"

namespace tandem::ddp::horovod {
namespace {

using Groups = std::vector<std::vector<int>>;

// Tensors 0, 1, ... of these sizes.
std::vector<Response> responses(const std::vector<std::int64_t>& sizes) {
  std::vector<Response> all;
  for (const std::int64_t size : sizes) all.push_back({static_cast<int>(all.size()), Bytes{size}});
  return all;
}

Groups fused(const std::vector<Response>& all, std::int64_t threshold) {
  Groups groups;
  for (const FusedGroup& group : fuse(all, Bytes{threshold})) {
    groups.emplace_back();
    for (const auto& slot : group.slots) groups.back().push_back(slot.tensor);
  }
  return groups;
}

TEST(FusionRule, SizesArePaddedTo16Bytes) {
  EXPECT_EQ(padded(Bytes{0}), Bytes{0});
  EXPECT_EQ(padded(Bytes{4}), Bytes{16});
  EXPECT_EQ(padded(Bytes{16}), Bytes{16});
  EXPECT_EQ(padded(Bytes{20}), Bytes{32});
}

TEST(FusionRule, Group_KnowsItsPlacesItsExtentAndItsSize) {
  const auto groups = fuse(responses({20, 16, 4}), Bytes{1000});
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].slots[0].offset, Bytes{0});
  EXPECT_EQ(groups[0].slots[1].offset, Bytes{32});
  EXPECT_EQ(groups[0].slots[2].offset, Bytes{48});
  EXPECT_EQ(groups[0].slots[2].size, Bytes{4});
  EXPECT_EQ(groups[0].extent, Bytes{64});
  EXPECT_EQ(groups[0].size, Bytes{40});
}

TEST(FusionRule, NothingReady_IsNoGroup) { EXPECT_EQ(fused({}, 100), Groups{}); }

TEST(FusionRule, UpToTheThreshold_WithPadding_IsOneGroup) {
  EXPECT_EQ(fused(responses({20, 16, 16}), 64), (Groups{{0, 1, 2}}));
  EXPECT_EQ(fused(responses({20, 16, 16}), 63), (Groups{{0, 1}, {2}}));
}

TEST(FusionRule, ThresholdZero_FusesNothing) {
  EXPECT_EQ(fused(responses({4, 4, 4}), 0), (Groups{{0}, {1}, {2}}));
}

TEST(FusionRule, TensorBeyondTheThreshold_GoesAlone) {
  EXPECT_EQ(fused(responses({16, 500, 16, 16}), 64), (Groups{{0}, {1}, {2, 3}}));
}

TEST(FusionRule, TensorThatDoesNotFit_BeginsTheNextGroup) {
  EXPECT_EQ(fused(responses({64, 64, 16}), 100), (Groups{{0}, {1, 2}}));
}

TEST(FusionRule, RandomResponses_ComeOnce_InGroupsWithinTheThreshold) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<Response> all;
    for (int tensor = 0; tensor < 20; ++tensor) {
      all.push_back({tensor, Bytes{static_cast<std::int64_t>(1 + random() % 100)}});
    }
    const Bytes threshold{static_cast<std::int64_t>(random() % 400)};
    std::set<int> seen;
    for (const FusedGroup& group : fuse(all, threshold)) {
      EXPECT_TRUE(group.slots.size() == 1 || group.extent <= threshold);
      for (const auto& slot : group.slots) EXPECT_TRUE(seen.insert(slot.tensor).second);
    }
    EXPECT_EQ(seen.size(), all.size());
  }
}

TEST(FusionBuffer, IsTheThreshold_OrAllTensorsWhereThoseAreLess_InWholeLines) {
  EXPECT_EQ(fusion_buffer_size(responses({100, 1000}), mib(128)), Bytes{1280});  // 112 + 1008
  EXPECT_EQ(fusion_buffer_size(responses({100, 1000}), Bytes{512}), Bytes{512});
  EXPECT_EQ(fusion_buffer_size(responses({100, 1000}), Bytes{500}), Bytes{512});
}

TEST(FusionBuffer, IsNone_WhereNothingIsEverFused) {
  EXPECT_EQ(fusion_buffer_size(responses({100}), mib(128)), Bytes{0});
  EXPECT_EQ(fusion_buffer_size(responses({100, 1000}), Bytes{0}), Bytes{0});
}

}  // namespace
}  // namespace tandem::ddp::horovod
