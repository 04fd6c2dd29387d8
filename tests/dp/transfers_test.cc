// SPDX-License-Identifier: Apache-2.0
//
// Broadcast of weights and reduction of gradients against plain copies and sums.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "common/base/error.h"
#include "common/model/linear_stack.h"
#include "common/runtime/host/host_stream.h"
#include "common/tensor/random.h"
#include "dp/collective_transfers.h"
#include "dp/reduce.h"
#include "dp/replicate.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

// Several chunks by either rule, of one tensor and of several.
constexpr Bytes kChunk = kib(2);

using Values = std::vector<float>;

class Transfers {
 public:
  explicit Transfers(int devices) : platform_(host_devices(devices)) {
    for (int i = 0; i < devices; ++i) {
      owned_.push_back(std::make_unique<Replica>(platform_->device(i), model_, 1,
                                                 TrainingOptions{.phases = {PhaseTiming::kOff}}));
      replicas.push_back(owned_.back().get());
      weights.push_back(replicas.back()->parameters().flat);
      arenas_.push_back(make_arena(platform_->device(i), model_.layout()));
      gradients.push_back(arenas_.back().flat);
    }
  }

  void synchronize() {
    for (Replica* const replica : replicas) replica->stream().synchronize();
  }

  // Segment by segment, without the gaps.
  [[nodiscard]] Values values_of(std::size_t replica, Span<float> arena) {
    Values all;
    for (const Span<float> tensor : layout().views(arena)) {
      const Values some = read_back<float>(replicas[replica]->device(), tensor);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  // Other small integers on every device, so that sums are exact; returns their sum.
  Values fill_gradients(std::uint64_t seed) {
    Values sum;
    for (std::size_t i = 0; i < replicas.size(); ++i) {
      Values values(static_cast<std::size_t>(gradients[i].size()));
      fill_small_integers(values, seed + i, 0, 1);
      put(replicas[i]->device(), gradients[i], values);
      const Values mine = values_of(i, gradients[i]);
      sum.resize(mine.size());
      for (std::size_t j = 0; j < mine.size(); ++j) sum[j] += mine[j];
    }
    return sum;
  }

  // A rank per device, made when it is asked for.
  [[nodiscard]] DeviceTeam& team() {
    if (team_) return *team_;
    std::vector<Device*> devices;
    for (Replica* const replica : replicas) devices.push_back(&replica->device());
    return team_.emplace(devices);
  }

  [[nodiscard]] const ParameterLayout& layout() const { return model_.layout(); }
  [[nodiscard]] Bytes used(int device) { return platform_->device(device).memory().used; }

 private:
  const std::unique_ptr<Platform> platform_;
  const Mlp model_{"several chunks", {16, 31, 8, 8, 60, 3}};
  std::vector<std::unique_ptr<Replica>> owned_;
  std::vector<Arena> arenas_;
  std::optional<DeviceTeam> team_;

 public:
  std::vector<Replica*> replicas;
  std::vector<Span<float>> weights;
  std::vector<Span<float>> gradients;
};

std::vector<dp::Chunk> chunks_for(const ParameterLayout& layout, dp::Grouping grouping) {
  return grouping == dp::Grouping::kCoalesced ? dp::broadcast_chunks(layout, kChunk)
                                              : dp::chunks_of(layout, grouping);
}

std::unique_ptr<dp::Broadcast> make_broadcast(Transfers& transfers,
                                              const std::vector<dp::Chunk>& chunks,
                                              dp::Order order) {
  if (order == dp::Order::kCollective) {
    return dp::make_collective_broadcast(transfers.team(), transfers.replicas, transfers.weights,
                                         chunks);
  }
  return std::make_unique<dp::CopiedBroadcast>(transfers.replicas, transfers.weights, chunks,
                                               order);
}

class BroadcastTest : public testing::TestWithParam<std::tuple<int, dp::Grouping, dp::Order>> {};

TEST_P(BroadcastTest, GivesAllTheRootsWeights_EveryTime) {
  const auto [devices, grouping, order] = GetParam();
  Transfers transfers(devices);
  const auto broadcast = make_broadcast(transfers, chunks_for(transfers.layout(), grouping), order);
  for (const std::uint64_t seed : {1U, 2U}) {
    transfers.replicas.front()->initialise(seed, Distribution::kUniform);
    broadcast->enqueue();
    broadcast->hold_sources();
    transfers.synchronize();
    const Values expected = transfers.values_of(0, transfers.weights[0]);
    for (std::size_t i = 0; i < transfers.replicas.size(); ++i) {
      EXPECT_EQ(transfers.values_of(i, transfers.weights[i]), expected) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, BroadcastTest,
                         testing::Combine(testing::Values(1, 2, 3, 5),
                                          testing::Values(dp::Grouping::kTensor,
                                                          dp::Grouping::kCoalesced,
                                                          dp::Grouping::kFlat),
                                          testing::Values(dp::Order::kSequential, dp::Order::kTree,
                                                          dp::Order::kCollective)));

TEST(BroadcastTreeTest, Parents_AreThoseOfABinomialTree) {
  const std::vector<std::size_t> parents{0, 0, 1, 0, 1, 2, 3, 0, 1};  // of 1 .. 9
  for (std::size_t i = 0; i < parents.size(); ++i) EXPECT_EQ(dp::tree_parent(i + 1), parents[i]);
}

// A port serves one child after the other.
TEST(BroadcastTreeTest, SiblingsBefore_AreServedInRounds) {
  EXPECT_EQ(dp::tree_sibling_before(1), 1U);  // first of 0
  EXPECT_EQ(dp::tree_sibling_before(2), 1U);
  EXPECT_EQ(dp::tree_sibling_before(4), 2U);
  EXPECT_EQ(dp::tree_sibling_before(3), 3U);  // first of 1
  EXPECT_EQ(dp::tree_sibling_before(5), 3U);
  EXPECT_EQ(dp::tree_sibling_before(6), 6U);  // first of 2
}

using MakeReduce = std::unique_ptr<dp::ReduceToRoot> (*)(Transfers&);

std::unique_ptr<dp::ReduceToRoot> sequential(Transfers& transfers) {
  return dp::make_sequential_reduce({transfers.replicas, transfers.gradients}, transfers.layout(),
                                    kChunk);
}
std::unique_ptr<dp::ReduceToRoot> by_tree(Transfers& transfers) {
  return dp::make_tree_reduce({transfers.replicas, transfers.gradients});
}

std::unique_ptr<dp::ReduceToRoot> as_collective(Transfers& transfers) {
  return dp::make_collective_reduce(transfers.team(), {transfers.replicas, transfers.gradients},
                                    transfers.layout(), kChunk);
}

class ReduceTest : public testing::TestWithParam<std::tuple<int, MakeReduce>> {};

TEST_P(ReduceTest, IsTheSumOfAllReplicas_EveryTime) {
  const auto [devices, make] = GetParam();
  Transfers transfers(devices);
  const auto reduce = make(transfers);
  for (const std::uint64_t seed : {10U, 20U}) {
    const Values expected = transfers.fill_gradients(seed);
    reduce->enqueue();
    transfers.synchronize();
    EXPECT_EQ(transfers.values_of(0, reduce->sum()), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, ReduceTest,
                         testing::Combine(testing::Values(1, 2, 3, 4, 5),
                                          testing::Values(&sequential, &by_tree, &as_collective)));

TEST(ReductionTest, SequentialAndCollective_LeaveGradientsAlone) {
  for (const MakeReduce make : {&sequential, &as_collective}) {
    Transfers transfers(3);
    static_cast<void>(transfers.fill_gradients(1));
    const Values before = transfers.values_of(0, transfers.gradients[0]);
    const auto reduce = make(transfers);
    reduce->enqueue();
    transfers.synchronize();
    EXPECT_EQ(transfers.values_of(0, transfers.gradients[0]), before);
  }
}

// A rank whose stream has failed does not come: nobody waits for it until the deadline.
TEST(CollectiveTransfersTest, FailedReplica_EndsTheOthersAtOnce) {
  Transfers transfers(3);
  const auto reduce = as_collective(transfers);
  host::host_stream(transfers.replicas[1]->stream()).enqueue({"fault", {}, [] {
                                                                fail(ErrorKind::kFailure,
                                                                     "planted");
                                                              }});
  reduce->enqueue();
  EXPECT_EQ(error_of([&] { transfers.replicas[0]->stream().synchronize(); }).kind(),
            ErrorKind::kCommunication);
  // The collectives' memory goes with `reduce`, so no stream may still wait in it.
  for (Replica* const replica : transfers.replicas) {
    static_cast<void>(capture_error([&] { replica->stream().synchronize(); }));
  }
}

Bytes staged_bytes(const std::vector<dp::Chunk>& chunks) {
  Bytes sum;
  for (const dp::Chunk& chunk : chunks) {
    if (chunk.flattened) sum += Bytes{4 * aligned_count(chunk.count)};
  }
  return sum;
}

// As torch, whose temporaries are chunks: a tensor that fills a chunk alone has no second copy.
TEST(TransfersMemoryTest, Broadcast_TakesThatOfFlattenedChunksAlone) {
  Transfers transfers(2);
  const Bytes before = transfers.used(0);
  const Bytes limit = bytes_of<float>(16 * 31);  // the first weights reach the limit
  const std::vector<dp::Chunk> chunks = dp::broadcast_chunks(transfers.layout(), limit);
  const dp::CopiedBroadcast broadcast(transfers.replicas, transfers.weights, chunks,
                                      dp::Order::kSequential);
  EXPECT_LE((transfers.used(0) - before).value, staged_bytes(chunks).value);
  EXPECT_LT(staged_bytes(chunks).value, 4 * transfers.layout().arena_count());
}

TEST(TransfersMemoryTest, FlatBroadcastAndTree_NeedNoStaging) {
  Transfers transfers(2);
  const Bytes root = transfers.used(0);
  const Bytes peer = transfers.used(1);
  const dp::CopiedBroadcast broadcast(transfers.replicas, transfers.weights,
                                      dp::chunks_of(transfers.layout(), dp::Grouping::kFlat),
                                      dp::Order::kTree);
  const auto reduce = by_tree(transfers);
  EXPECT_EQ((transfers.used(0) - root).value,
            transfers.gradients[0].size_bytes().value);  // arrived
  EXPECT_EQ(transfers.used(1), peer);
}

TEST(TransfersMemoryTest, SequentialReduce_TakesChunksOnPeers_AndASumOnTheRoot) {
  Transfers transfers(2);
  const std::vector<dp::Chunk> chunks = dp::reduction_chunks(transfers.layout(), kChunk);
  std::int64_t largest = 0;
  for (const dp::Chunk& chunk : chunks) largest = std::max(largest, 4 * chunk.count);
  const Bytes root = transfers.used(0);
  const Bytes peer = transfers.used(1);
  const auto reduce = sequential(transfers);
  EXPECT_LE((transfers.used(1) - peer).value, staged_bytes(chunks).value);
  EXPECT_LE((transfers.used(0) - root).value,
            staged_bytes(chunks).value + largest + transfers.gradients[0].size_bytes().value);
}

}  // namespace
}  // namespace tandem::test
