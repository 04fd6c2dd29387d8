// SPDX-License-Identifier: Apache-2.0
#include "common/comm/simulated/simulated_communicator.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "common/comm/simulated/collective_time.h"
#include "common/comm/simulated/folded_bootstrap.h"
#include "common/comm/transports/device_team.h"
#include "common/comm/transports/transport_registry.h"
#include "tests/support/errors.h"
#include "tests/support/simulated_devices.h"

namespace tandem::test {
namespace {

using Kind = CollectiveRequest::Kind;

constexpr Nanoseconds ns(std::int64_t count) { return Nanoseconds{count}; }
constexpr LinkModel kLink{.latency = Nanoseconds{100}, .bytes_per_second = 10e9};
constexpr std::int64_t kCount = 10'000;  // 40,000 bytes, 4,000 ns on the link

class CollectiveTimeTest : public testing::Test {
 protected:
  Nanoseconds time_of(Kind kind, const std::vector<Block>& blocks = {}) {
    float* const nowhere = nullptr;
    const Span<float> values(nowhere, kCount, {Backend::kSimulated, 0});
    return simulated::collective_time(
        kLink, {.kind = kind, .from = values, .to = values, .root = 1, .blocks = blocks}, 4);
  }
};

TEST_F(CollectiveTimeTest, IsThatOfTheModelledLink) {
  EXPECT_EQ(time_of(Kind::kAllReduce), ring_all_reduce_time(kLink, bytes_of<float>(kCount), 4));
  EXPECT_EQ(time_of(Kind::kAllReduce), ns(2 * 3 * (100 + 1000)));
  EXPECT_EQ(time_of(Kind::kReduceScatter), ns(3 * (100 + 1000)));
  EXPECT_EQ(time_of(Kind::kAllGather), ns(3 * (100 + 1000)));
  EXPECT_EQ(time_of(Kind::kBroadcast), ns(3 * 100 + 4000));
  EXPECT_EQ(time_of(Kind::kReduce), ns(3 * 100 + 4000));
}

TEST_F(CollectiveTimeTest, ScattersGoThroughTheRootsPort_ButForItsOwnBlock) {
  const std::vector<Block> blocks{{0, 1000}, {1000, 5000}, {6000, 3000}, {9000, 1000}};
  EXPECT_EQ(time_of(Kind::kScatter, blocks), ns(100 + 4 * 5000 / 10));
  EXPECT_EQ(time_of(Kind::kGather, blocks), ns(100 + 4 * 5000 / 10));
}

TEST_F(CollectiveTimeTest, OfAMessage_IsAUsageError) {
  const Error error = error_of([this] { static_cast<void>(time_of(Kind::kSend)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
}

TEST(CollectiveLink, IsThatBetweenPeers_OrToTheHostWhereThereIsNone) {
  HardwareDescription machine = round_machine();
  EXPECT_DOUBLE_EQ(simulated::collective_link(machine.node).bytes_per_second, 10e9);
  machine.node.peer_link.reset();
  EXPECT_DOUBLE_EQ(simulated::collective_link(machine.node).bytes_per_second, 4e9);
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
}

TEST(FoldedRanks, OneStandsForAll) {
  const auto platform = simulated_devices(1);
  const auto bootstrap = simulated::make_folded_bootstrap(1000);
  const auto communicator = make_communicator(Transport::kAuto, *bootstrap, platform->device(0));
  EXPECT_EQ(communicator->size(), 1000);
  EXPECT_EQ(communicator->rank(), 0);
  SimulatedRank rank(platform->device(0), *communicator);
  const TimePoint start = platform->now();
  rank.all_reduce();
  rank.stream->synchronize();
  EXPECT_EQ(platform->now() - start,
            ring_all_reduce_time({.latency = ns(0), .bytes_per_second = 10e9},
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
}

}  // namespace
}  // namespace tandem::test
