// SPDX-License-Identifier: Apache-2.0
//
// Coalesced broadcast and reduction against plain copies and sums.
#include <gtest/gtest.h>

#include <numeric>

#include "common/model/mlp.h"
#include "common/parallel/coalesced_broadcast.h"
#include "common/parallel/coalesced_reduction.h"
#include "common/tensor/random.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

// Several chunks by either rule, of one tensor and of several.
constexpr Bytes kChunk = kib(2);

using Values = std::vector<float>;

class CoalescedTransfersTest : public testing::TestWithParam<int> {
 protected:
  CoalescedTransfersTest() {
    for (int i = 0; i < GetParam(); ++i) {
      owned_.push_back(
          std::make_unique<Replica>(platform_->device(i), model_, 1, PhaseTiming::kOff));
      replicas_.push_back(owned_.back().get());
    }
  }

  void synchronize_all() {
    for (Replica* const replica : replicas_) replica->stream().synchronize();
  }

  // Segment by segment, without the gaps.
  Values values_of(Replica& replica, Span<float> arena) {
    Values all;
    for (const Span<float> tensor : model_.layout().views(arena)) {
      const Values some = read_back<float>(replica.device(), tensor);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  const std::unique_ptr<Platform> platform_ = host_devices(GetParam());
  const Mlp model_{"several chunks", {16, 31, 8, 8, 60, 3}};
  std::vector<std::unique_ptr<Replica>> owned_;
  std::vector<Replica*> replicas_;
};

TEST_P(CoalescedTransfersTest, Chunks_AreOfOneTensorAndOfSeveral) {
  for (const auto& chunks :
       {broadcast_chunks(model_.layout(), kChunk), reduction_chunks(model_.layout(), kChunk)}) {
    const auto alone = std::count_if(chunks.begin(), chunks.end(),
                                     [](const Chunk& chunk) { return chunk.segments == 1; });
    EXPECT_GE(chunks.size(), 3U);
    EXPECT_GT(alone, 0);
    EXPECT_LT(alone, static_cast<std::ptrdiff_t>(chunks.size()));
  }
}

TEST_P(CoalescedTransfersTest, Broadcast_GivesAllTheRootsWeights_EveryTime) {
  CoalescedBroadcast broadcast(replicas_, model_.layout(), kChunk);
  Replica& root = *replicas_.front();
  for (const std::uint64_t seed : {1, 2}) {
    root.initialise(seed, Distribution::kUniform);
    broadcast.enqueue();
    synchronize_all();
    const Values expected = values_of(root, root.parameters().flat);
    for (Replica* const replica : replicas_) {
      EXPECT_EQ(values_of(*replica, replica->parameters().flat), expected);
    }
  }
}

TEST_P(CoalescedTransfersTest, Reduction_IsTheSumInReplicaOrder_AndLeavesGradientsAlone) {
  std::vector<Arena> gradients;
  std::vector<Span<float>> flat;
  Values expected;
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    gradients.push_back(make_arena(replicas_[i]->device(), model_.layout()));
    flat.push_back(gradients.back().flat);
    Values values(static_cast<std::size_t>(flat[i].size()));
    fill_uniform(values, i, 0, 1);
    put(replicas_[i]->device(), flat[i], values);
    const Values mine = values_of(*replicas_[i], flat[i]);
    if (i == 0) expected.resize(mine.size());
    for (std::size_t j = 0; j < mine.size(); ++j) expected[j] += mine[j];
  }
  const Values before = values_of(*replicas_.front(), flat.front());
  CoalescedReduction reduction(replicas_, flat, model_.layout(), kChunk);
  for (int time = 0; time < 2; ++time) {
    reduction.enqueue();
    synchronize_all();
    EXPECT_EQ(values_of(*replicas_.front(), reduction.sum()), expected);
    EXPECT_EQ(values_of(*replicas_.front(), flat.front()), before);
  }
}

Bytes staged_bytes(const std::vector<Chunk>& chunks) {
  Bytes sum;
  for (const Chunk& chunk : chunks) {
    if (chunk.is_staged()) sum += Bytes{4 * aligned_count(chunk.count)};
  }
  return sum;
}

// As torch, whose temporaries are chunks: a large tensor has no second copy anywhere.
TEST_P(CoalescedTransfersTest, Memory_IsForStagedChunksAlone) {
  Device& root = platform_->device(0);
  const Bytes before = root.memory().used;
  const CoalescedBroadcast broadcast(replicas_, model_.layout(), kChunk);
  const Bytes staged = staged_bytes(broadcast_chunks(model_.layout(), kChunk));
  EXPECT_LE((root.memory().used - before).value, staged.value);
  EXPECT_LT(staged.value, 4 * model_.layout().arena_count());
}

TEST_P(CoalescedTransfersTest, PeersMemory_IsForTheReductionsStagedChunksAlone) {
  if (GetParam() == 1) return;
  std::vector<Span<float>> gradients;  // any memory of the right size
  for (Replica* const replica : replicas_) gradients.push_back(replica->parameters().flat);
  const std::vector<Chunk> chunks = reduction_chunks(model_.layout(), kChunk);
  std::int64_t largest = 0;
  for (const Chunk& chunk : chunks) largest = std::max(largest, 4 * chunk.count);
  const Bytes root = platform_->device(0).memory().used;
  const Bytes peer = platform_->device(1).memory().used;
  const CoalescedReduction reduction(replicas_, gradients, model_.layout(), kChunk);
  const Bytes staged = staged_bytes(chunks);
  EXPECT_LE((platform_->device(1).memory().used - peer).value, staged.value);
  EXPECT_LE((platform_->device(0).memory().used - root).value,
            staged.value + largest + 4 * model_.layout().arena_count());
}

INSTANTIATE_TEST_SUITE_P(Devices, CoalescedTransfersTest, testing::Values(1, 2, 3));

}  // namespace
}  // namespace tandem::test
