// SPDX-License-Identifier: Apache-2.0
//
// Collectives over a modelled link: lower bounds and orders on the running platform.
#include <gtest/gtest.h>

#include "common/comm/thread_bootstrap.h"
#include "common/runtime/host/link_ports.h"
#include "common/runtime/link_model.h"
#include "tests/comm/communicating_rank.h"

namespace tandem::test {
namespace {

using std::chrono::milliseconds;
using LinkedRank = CommunicatingRank;

// 1 MB/s: a kB takes a millisecond.
constexpr LinkModel kLink{.latency = milliseconds(1), .bytes_per_second = 1e6};
constexpr std::int64_t kElements = 2000;
constexpr int kRanks = 4;

class LinkedCollectivesTest : public testing::Test {
 protected:
  void on_ranks(const std::function<void(LinkedRank&)>& body) {
    run_ranks_as_threads(kRanks, [&](Bootstrap& bootstrap) {
      LinkedRank rank(bootstrap, *platform_, std::chrono::seconds(60));
      body(rank);
      barrier(bootstrap);
    });
  }

  // The collective that `enqueue` queues takes at least `expected` on every rank.
  void expect_at_least(Nanoseconds expected,
                       const std::function<void(LinkedRank&, Span<float>)>& enqueue) {
    on_ranks([&](LinkedRank& on) {
      const auto buffer = on.communicator->allocate(bytes_of_floats(kElements));
      on.communicator->barrier();
      const TimePoint start = Clock::now();
      on.communicator->barrier();  // nobody starts before any has taken the time
      enqueue(on, buffer->as<float>());
      on.stream->synchronize();
      EXPECT_GE(Clock::now() - start, expected);
    });
  }

  const std::shared_ptr<LinkPorts> ports_ = std::make_shared<LinkPorts>();
  const std::unique_ptr<Platform> platform_ = host::make_host_platform({.devices = kRanks,
                                                                        .oversubscribe = true,
                                                                        .device_memory = {mib(16)},
                                                                        .link = kLink,
                                                                        .link_ports = ports_});
};

TEST_F(LinkedCollectivesTest, AllReduce_TakesARing) {
  expect_at_least(ring_all_reduce_time(kLink, bytes_of_floats(kElements), kRanks),
                  [](LinkedRank& on, Span<float> values) {
                    on.communicator->all_reduce(*on.stream, values, ReduceOp::kSum);
                  });
}

TEST_F(LinkedCollectivesTest, BroadcastAndReduce_TakeAPipelineEach) {
  expect_at_least(2 * pipelined_time(kLink, bytes_of_floats(kElements), kRanks),
                  [](LinkedRank& on, Span<float> values) {
                    on.communicator->broadcast(*on.stream, values, 2);
                    on.communicator->reduce(*on.stream, values, 1);
                  });
}

TEST_F(LinkedCollectivesTest, Scatter_TakesACopyPerOtherRank_OfItsOwnSize) {
  const std::vector<Block> blocks{{0, 900}, {900, 100}, {1000, 300}, {1300, 0}};
  const Nanoseconds loop =
      transfer_time(kLink, bytes_of_floats(100)) + transfer_time(kLink, bytes_of_floats(300));
  expect_at_least(2 * loop, [&blocks](LinkedRank& on, Span<float> values) {
    const std::int64_t count = blocks[static_cast<std::size_t>(on.rank)].count;
    const auto mine = on.device.allocate(bytes_of_floats(1000));
    const Span<float> at_root = on.rank == 0 ? values : Span<float>{};
    on.communicator->scatter(*on.stream, at_root, mine->as<float>(count), blocks, 0);
    on.communicator->gather(*on.stream, mine->as<float>(count), at_root, blocks, 0);
    on.stream->synchronize();
  });
}

TEST_F(LinkedCollectivesTest, StagedCollective_TakesTheLinkAsWell) {
  on_ranks([this](LinkedRank& on) {
    const auto own = on.device.allocate(bytes_of_floats(kElements));
    on.communicator->all_reduce(*on.stream, own->as<float>(), ReduceOp::kSum);
    on.stream->synchronize();
    EXPECT_GT(ports_->of(on.device.id()).egress_free, 0);
  });
}

TEST_F(LinkedCollectivesTest, Collective_StartsWhenTheLastRankIsReady) {
  expect_at_least(
      milliseconds(30) + ring_all_reduce_time(kLink, bytes_of_floats(kElements), kRanks),
      [](LinkedRank& on, Span<float> values) {
        if (on.rank == 3) on.stream->start_after(Clock::now() + milliseconds(30));
        on.communicator->all_reduce(*on.stream, values, ReduceOp::kSum);
      });
}

TEST_F(LinkedCollectivesTest, Ports_OfAllRanks_AreBusyToTheSameEnd) {
  on_ranks([](LinkedRank& on) {
    const auto buffer = on.communicator->allocate(bytes_of_floats(kElements));
    on.communicator->all_reduce(*on.stream, buffer->as<float>(), ReduceOp::kSum);
    on.stream->synchronize();
  });
  const LinkPorts::Port first = ports_->of({Backend::kHost, 0});
  EXPECT_GT(first.egress_free, 0);
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(ports_->of({Backend::kHost, rank}).egress_free, first.egress_free);
    EXPECT_EQ(ports_->of({Backend::kHost, rank}).ingress_free, first.egress_free);
  }
}

TEST_F(LinkedCollectivesTest, Results_AreThoseWithoutALink) {
  on_ranks([](LinkedRank& on) {
    const auto buffer = on.communicator->allocate(bytes_of_floats(100));
    on.check_all_reduce(buffer->as<float>(), ReduceOp::kAverage);
    on.check_reduce(buffer->as<float>(), 1);
    on.check_broadcast(buffer->as<float>(), 3);
    on.check_blocks(30);
  });
}

}  // namespace
}  // namespace tandem::test
