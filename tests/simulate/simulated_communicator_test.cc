// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/simulated_communicator.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "common/comm/transports/device_team.h"
#include "common/comm/transports/transport_registry.h"
#include "simulate/cost/collective_time.h"
#include "simulate/cost/nccl_model.h"
#include "tests/support/errors.h"
#include "tests/support/simulated_devices.h"

namespace tandem::test {
namespace {

using Kind = CollectiveRequest::Kind;

constexpr LinkModel kPeerLink{.latency = Nanoseconds{100}, .bytes_per_second = 10e9};
constexpr LinkModel kHostLink{.latency = Nanoseconds{700}, .bytes_per_second = 4e9};
constexpr std::int64_t kCount = 10'000;  // 40,000 bytes, 4,000 ns on the link

class CollectiveTimeTest : public ::testing::Test {
 protected:
  Nanoseconds time_of(Kind kind, const std::vector<Block>& blocks = {}) {
    float* const nowhere = nullptr;
    const Span<float> values(nowhere, kCount, {Backend::kSimulated, 0});
    return simulated::collective_time(
        links_, {.kind = kind, .from = values, .to = values, .root = 1, .blocks = blocks}, 4);
  }

  simulated::CollectiveLinks links_{
      .within = kPeerLink, .to_host = kHostLink, .among_nodes = std::nullopt, .ranks_of_node = 8};
};

TEST_F(CollectiveTimeTest, IsThatOfTheModelledLink) {
  EXPECT_EQ(time_of(Kind::kAllReduce), 2 * ring_pass_time(kPeerLink, bytes_of<float>(kCount), 4));
  EXPECT_EQ(time_of(Kind::kAllReduce), ns(2 * 3 * (100 + 1000)));
  EXPECT_EQ(time_of(Kind::kBroadcast), ns(3 * 100 + 4000));
  EXPECT_EQ(time_of(Kind::kReduce), ns(3 * 100 + 4000));
}

TEST_F(CollectiveTimeTest, ScattersGoThroughTheRootsPort_ButForItsOwnBlock) {
  const std::vector<Block> blocks{{0, 1000}, {1000, 5000}, {6000, 3000}, {9000, 1000}};
  EXPECT_EQ(time_of(Kind::kScatter, blocks), ns(100 + 4 * 5000 / 10));
  EXPECT_EQ(time_of(Kind::kGather, blocks), ns(100 + 4 * 5000 / 10));
}

TEST_F(CollectiveTimeTest, ScattersOutOfTheHostsMemory_GoOverTheLinkToIt_Whole) {
  float* const nowhere = nullptr;
  const Span<float> on_host(nowhere, kCount, {Backend::kSimulated, DeviceId::kHostMemory});
  const Span<float> mine(nowhere, 1000, {Backend::kSimulated, 1});
  const std::vector<Block> blocks{{0, 1000}, {1000, 5000}, {6000, 3000}, {9000, 1000}};
  const Nanoseconds took = simulated::collective_time(
      links_, {.kind = Kind::kScatter, .from = on_host, .to = mine, .root = 1, .blocks = blocks},
      4);
  EXPECT_EQ(took, ns(700 + 40'000 / 4));
}

// Ranks 0 and 1 are on one node, 2 and 3 on another: a ring has two hops within nodes and one
// between them, and the network carries a byte in a nanosecond.
TEST_F(CollectiveTimeTest, AmongNodes_HasTheSlowestLinksBandwidth_AndEachLinksLatency) {
  links_.ranks_of_node = 2;
  links_.among_nodes = LinkModel{.latency = ns(5000), .bytes_per_second = 1e9};
  constexpr std::int64_t kHops = 2 * 100 + 5000;
  EXPECT_EQ(time_of(Kind::kAllReduce), ns(2 * (kHops + 30'000)));
  EXPECT_EQ(time_of(Kind::kBroadcast), ns(kHops + 40'000));
  // The root, rank 1, serves its own node beside the other one.
  const std::vector<Block> blocks{{0, 1000}, {1000, 5000}, {6000, 3000}, {9000, 1000}};
  EXPECT_EQ(time_of(Kind::kScatter, blocks), ns(5000 + 4 * 4000));
  const std::vector<Block> mostly_here{{0, 9000}, {9000, 500}, {9500, 500}, {10'000, 0}};
  links_.among_nodes->bytes_per_second = 10e9;
  EXPECT_EQ(time_of(Kind::kGather, mostly_here), ns(5000 + 200));
  links_.within.bytes_per_second = 1e9;
  EXPECT_EQ(time_of(Kind::kGather, mostly_here), ns(100 + 36'000));
}

// 64 nodes of two: a ring passes 127 hops each way, a tree 1 and 6.
TEST_F(CollectiveTimeTest, OfFewBytesAmongManyNodes_IsThatOfATree) {
  links_.ranks_of_node = 2;
  links_.among_nodes = LinkModel{.latency = ns(5000), .bytes_per_second = 1e9};
  const auto all_reduce = [this](std::int64_t count) {
    float* const nowhere = nullptr;
    const Span<float> values(nowhere, count, {Backend::kSimulated, 0});
    return simulated::collective_time(
        links_, {.kind = Kind::kAllReduce, .from = values, .to = values}, 128);
  };
  EXPECT_EQ(all_reduce(230), ns(2 * (100 + 6 * 5000 + 1000)));  // 920 bytes, at 0.92 a nanosecond
  constexpr std::int64_t kMany = 128'000'000;
  EXPECT_EQ(all_reduce(kMany), ns(2 * (64 * 100 + 63 * 5000 + 4 * kMany / 128 * 127)));
}

TEST_F(CollectiveTimeTest, AFastNetwork_LeavesTheNodesLinkToDecide) {
  links_.ranks_of_node = 2;
  links_.among_nodes = LinkModel{.latency = ns(100), .bytes_per_second = 100e9};
  EXPECT_EQ(time_of(Kind::kAllReduce), ns(2 * 3 * (100 + 1000)));
}

// Of what NCCL does itself; scatters are messages of the root's.
TEST_F(CollectiveTimeTest, WithNcclsTopology_IsThatOfItsModel) {
  const auto round = [](auto value) { return SourcedFigure<decltype(value)>{value, "round"}; };
  links_.nccl = NcclTopology{.generation = round(NcclGeneration::kAmpere),
                             .path = round(NcclPath::kNvlink),
                             .ring = {round(2), round(5e9)},
                             .nvls = {}};
  const nccl::System system = nccl::system_of(*links_.nccl, 4, 8, 0).value();
  EXPECT_EQ(time_of(Kind::kAllReduce),
            nccl::time_of(system, nccl::Call::kAllReduce, bytes_of<float>(kCount)));
  EXPECT_EQ(time_of(Kind::kBroadcast),
            nccl::time_of(system, nccl::Call::kBroadcast, bytes_of<float>(kCount)));
  const std::vector<Block> blocks{{0, 1000}, {1000, 5000}, {6000, 3000}, {9000, 1000}};
  EXPECT_EQ(time_of(Kind::kScatter, blocks), ns(100 + 4 * 5000 / 10));
  links_.ranks_of_node = 3;  // the second node would have one rank
  links_.among_nodes = kPeerLink;
  EXPECT_EQ(time_of(Kind::kAllReduce), ns(2 * 3 * (100 + 1000)));
}

// In a ring each rank sends and receives at once; chains and roots do one of both.
TEST_F(CollectiveTimeTest, ThroughTheHost_IsFasterOneWayThanBoth) {
  links_.one_way = links_.within;
  links_.within.bytes_per_second /= 2;
  EXPECT_EQ(time_of(Kind::kAllReduce), ns(2 * 3 * (100 + 2000)));
  EXPECT_EQ(time_of(Kind::kBroadcast), ns(3 * 100 + 4000));
  const std::vector<Block> blocks{{0, 1000}, {1000, 5000}, {6000, 3000}, {9000, 1000}};
  EXPECT_EQ(time_of(Kind::kScatter, blocks), ns(100 + 4 * 5000 / 10));
}

TEST(CollectiveLinks, AreThoseBetweenPeers_OrToTheHostWhereThereAreNone) {
  HardwareDescription machine = round_machine();
  EXPECT_DOUBLE_EQ(simulated::collective_links(machine).within.bytes_per_second, 10e9);
  EXPECT_FALSE(simulated::collective_links(machine).among_nodes);
  machine.node.peer_link.reset();
  EXPECT_DOUBLE_EQ(simulated::collective_links(machine).within.bytes_per_second, 4e9);
  machine.node.staged_link =
      StagedLinkDescription{{{3e9, "round"}, {ns(9), "round"}}, {2e9, "round"}};
  const simulated::CollectiveLinks staged = simulated::collective_links(machine);
  EXPECT_DOUBLE_EQ(staged.within.bytes_per_second, 2e9);
  EXPECT_DOUBLE_EQ(staged.one_way.value().bytes_per_second, 3e9);
  machine.network = NetworkDescription{{2, "round"}, {{25e9, "round"}, {ns(7), "round"}}};
  const auto network = simulated::collective_links(machine).among_nodes;
  ASSERT_TRUE(network);
  EXPECT_EQ(*network, (LinkModel{.latency = ns(7), .bytes_per_second = 25e9}));
}

// A rank's own buffer and stream.
struct SimulatedRank {
  SimulatedRank(Device& of, Communicator& communicator)
      : ranks(communicator),
        memory(communicator.allocate(bytes_of<float>(kCount))),
        stream(of.make_stream(StreamPriority::kNormal)) {}

  void all_reduce() { ranks.all_reduce(*stream, memory->as<float>(), ReduceOp::kSum); }

  Communicator& ranks;
  const std::unique_ptr<Buffer> memory;
  const std::unique_ptr<Stream> stream;
};

// Round machines have no latency: four ranks pass 40,000 bytes in 2 * 3 * 1,000 ns.
TEST(SimulatedTeam, BeginsWithTheLastRank_AndEndsForAllAtOnce) {
  const auto platform = simulated_devices(4);
  std::vector<Device*> devices;
  for (int i = 0; i < 4; ++i) devices.push_back(&platform->device(i));
  const DeviceTeam team(devices);
  std::vector<std::unique_ptr<SimulatedRank>> ranks;
  for (int i = 0; i < 4; ++i) {
    ranks.push_back(
        std::make_unique<SimulatedRank>(*devices[static_cast<std::size_t>(i)], team.rank(i)));
  }
  const TimePoint start = platform->now();
  for (int i = 0; i < 4; ++i) {
    ranks[static_cast<std::size_t>(i)]->stream->delay(ns(50 * i));
    ranks[static_cast<std::size_t>(i)]->all_reduce();
  }
  for (const auto& rank : ranks) {
    rank->stream->synchronize();
    EXPECT_EQ(platform->now() - start, ns(150 + 6000));
  }
}

TEST(SimulatedTeam, ServesWhateverTorchLetsNcclDo) {
  const auto platform = simulated_devices(2);
  EXPECT_TRUE(nccl_serves({&platform->device(0), &platform->device(1)}).possible);
  simulated::SimulationExtras extras;
  extras.of_cores = true;
  const auto cores = simulated_devices(2, round_machine(), extras);
  EXPECT_EQ(nccl_serves({&cores->device(0), &cores->device(1)}).reason, "they are cores");
}

TEST(FoldedRanks, OneStandsForAll) {
  HardwareDescription machine = round_machine();
  machine.node.gpus.value = 1000;
  const auto platform = simulated_devices(1, machine);
  const auto bootstrap = simulated::make_folded_bootstrap(1000);
  const auto communicator = make_communicator(Transport::kAuto, *bootstrap, platform->device(0));
  EXPECT_EQ(communicator->size(), 1000);
  EXPECT_EQ(communicator->rank(), 0);
  SimulatedRank rank(platform->device(0), *communicator);
  const TimePoint start = platform->now();
  rank.all_reduce();
  rank.stream->synchronize();
  EXPECT_EQ(platform->now() - start,
            2 * ring_pass_time({.latency = ns(0), .bytes_per_second = 10e9},
                               bytes_of<float>(kCount), 1000));
}

TEST(FoldedRanks, HearTheirOwnWordFromEach) {
  const auto bootstrap = simulated::make_folded_bootstrap(3);
  EXPECT_EQ(bootstrap->all_gather("mine"), (std::vector<std::string>{"mine", "mine", "mine"}));
  EXPECT_EQ(bootstrap->split(7)->size(), 3);
  EXPECT_EQ(bootstrap->job_ranks(), (std::vector<int>{0, 1, 2}));
}

TEST(FoldedRanks, OfOne_MoveNothing) {
  EXPECT_EQ(decide_transport(Transport::kAuto, {.backend = Backend::kSimulated, .ranks = 1}).route,
            Route::kSolo);
  EXPECT_EQ(decide_transport(Transport::kAuto, {.backend = Backend::kSimulated, .ranks = 2}).route,
            Route::kFolded);
  EXPECT_EQ(decide_transport(Transport::kAuto,
                             {.backend = Backend::kSimulated, .ranks = 2, .are_threads = true})
                .route,
            Route::kInTurn);
}

TEST(RanksInTurn, MeetThoughEachRunsToItsEnd) {
  const auto platform = simulated_devices(3);
  const auto group = make_rank_group(
      {&platform->device(0), &platform->device(1), &platform->device(2)}, std::chrono::seconds(1));
  std::vector<std::unique_ptr<Bootstrap>> bootstraps;
  std::vector<std::unique_ptr<Communicator>> communicators;
  std::vector<std::unique_ptr<SimulatedRank>> ranks;
  const TimePoint start = platform->now();
  for (int i = 0; i < 3; ++i) {
    bootstraps.push_back(group->join(i));
    EXPECT_TRUE(bootstraps.back()->shares_address_space());
    communicators.push_back(
        make_communicator(Transport::kAuto, *bootstraps.back(), platform->device(i)));
    EXPECT_EQ(communicators.back()->rank(), i);
    ranks.push_back(std::make_unique<SimulatedRank>(platform->device(i), *communicators.back()));
    ranks.back()->stream->delay(ns(300 * i));
    ranks.back()->all_reduce();
  }
  ranks.front()->stream->synchronize();
  const Nanoseconds ring =
      2 * ring_pass_time({.latency = ns(0), .bytes_per_second = 10e9}, bytes_of<float>(kCount), 3);
  EXPECT_EQ(platform->now() - start, ns(600) + ring);
}

TEST(RankClasses, StandForRanksThatAreNotThere) {
  const auto platform = simulated_devices(2);
  const auto communicators =
      simulated::make_class_communicators({&platform->device(0), &platform->device(1)}, {0, 7}, 8);
  EXPECT_EQ(communicators[1]->rank(), 7);
  EXPECT_EQ(communicators[1]->size(), 8);
  SimulatedRank first(platform->device(0), *communicators[0]);
  SimulatedRank last(platform->device(1), *communicators[1]);
  const TimePoint start = platform->now();
  first.all_reduce();
  last.stream->delay(ns(500));
  last.all_reduce();
  first.stream->synchronize();
  const Nanoseconds ring =
      2 * ring_pass_time({.latency = ns(0), .bytes_per_second = 10e9}, bytes_of<float>(kCount), 8);
  EXPECT_EQ(platform->now() - start, ns(500) + ring);
}

}  // namespace
}  // namespace tandem::test
