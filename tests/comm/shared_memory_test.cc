// SPDX-License-Identifier: Apache-2.0
//
// What of the shared-memory communicator is more than the contract of all: its bits, its memory,
// and how its ranks find out what went wrong. Ranks are threads; mpi_test.cc has them as processes.
#include <gtest/gtest.h>

#include <atomic>

#include "common/comm/thread_bootstrap.h"
#include "tests/comm/communicating_rank.h"

namespace tandem::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Values = std::vector<float>;

using Rank = CommunicatingRank;

void on_ranks(int size, const std::function<void(Rank&)>& body,
              Nanoseconds deadline = seconds(60)) {
  const auto platform = host_devices(size);
  run_ranks_as_threads(size, [&](Bootstrap& bootstrap) {
    Rank rank(bootstrap, *platform, deadline);
    body(rank);
    barrier(bootstrap);  // nobody's memory goes while others look at it
  });
}

class SharedMemoryTest : public testing::TestWithParam<int> {};

TEST_P(SharedMemoryTest, AllReduce_OnAllocatedMemory_IsTheSumOrAverageInRankOrder) {
  on_ranks(GetParam(), [](Rank& on) {
    for (const std::int64_t count : {1, 16, 1001, 100'003}) {
      const auto buffer = on.communicator->allocate(bytes_of_floats(count));
      on.check_all_reduce(buffer->as<float>(), ReduceOp::kSum);
      on.check_all_reduce(buffer->as<float>(), ReduceOp::kAverage);
    }
  });
}

TEST_P(SharedMemoryTest, AllReduce_OnOtherMemory_IsStagedToTheSameResult) {
  on_ranks(GetParam(), [](Rank& on) {
    for (const std::int64_t count : {std::int64_t{1}, std::int64_t{1001}, kStagedElements}) {
      const auto buffer = on.device.allocate(bytes_of_floats(count));
      on.check_all_reduce(buffer->as<float>(), ReduceOp::kSum);
      on.check_all_reduce(buffer->as<float>(), ReduceOp::kAverage);
    }
  });
}

TEST_P(SharedMemoryTest, Reduce_SumsIntoRootsValues_AndLeavesOthersAlone) {
  on_ranks(GetParam(), [](Rank& on) {
    const auto shared = on.communicator->allocate(bytes_of_floats(5001));
    const auto staged = on.device.allocate(bytes_of_floats(kStagedElements));
    for (int root = 0; root < on.size; ++root) {
      on.check_reduce(shared->as<float>(), root);
      on.check_reduce(staged->as<float>(), root);
    }
  });
}

TEST_P(SharedMemoryTest, BarrierAndAllGather_BringAllTogether) {
  std::atomic<int> arrived = 0;
  on_ranks(GetParam(), [&arrived](Rank& on) {
    ++arrived;
    on.communicator->barrier();
    EXPECT_EQ(arrived, on.size);
    for (int round = 0; round < 20; ++round) {
      const std::vector<double> all = on.communicator->all_gather(on.rank + 0.5 * round);
      ASSERT_EQ(all.size(), static_cast<std::size_t>(on.size));
      for (int peer = 0; peer < on.size; ++peer) {
        EXPECT_EQ(all[static_cast<std::size_t>(peer)], peer + 0.5 * round);
      }
    }
  });
}

TEST_P(SharedMemoryTest, Memory_FreedAndAllocatedAgain_IsZeroAndWorks) {
  on_ranks(GetParam(), [](Rank& on) {
    const Bytes before = on.device.memory().used;
    for (int round = 0; round < 5; ++round) {
      const auto kept = on.communicator->allocate(bytes_of_floats(50));
      auto freed = on.communicator->allocate(bytes_of_floats(5000));
      on.check_all_reduce(freed->as<float>(), ReduceOp::kSum);
      freed.reset();
      const auto again = on.communicator->allocate(bytes_of_floats(5000));
      EXPECT_EQ(read_back<float>(on.device, again->as<float>()), Values(5000, 0));
      on.check_all_reduce(again->as<float>(), ReduceOp::kAverage);
      on.check_all_reduce(kept->as<float>(), ReduceOp::kSum);
    }
    EXPECT_EQ(on.device.memory().used, before);
  });
}

// Only ThreadSanitizer can see what goes wrong here.
TEST_P(SharedMemoryTest, Allocation_WhileAStagedCollectiveRuns_IsSafe) {
  on_ranks(GetParam(), [](Rank& on) {
    const auto values = on.device.allocate(bytes_of_floats(kStagedElements));
    on.communicator->all_reduce(*on.stream, values->as<float>(), ReduceOp::kSum);
    std::vector<std::unique_ptr<Buffer>> more;
    for (int i = 0; i < 10; ++i) more.push_back(on.communicator->allocate(bytes_of_floats(10)));
    on.stream->synchronize();
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, SharedMemoryTest, testing::Values(1, 2, 3));

// Each rank enqueues its own; all find out.
void expect_mismatch(const std::function<void(Rank&, Buffer& shared, Buffer& own)>& enqueue) {
  on_ranks(2, [&enqueue](Rank& on) {
    const auto shared = on.communicator->allocate(bytes_of_floats(64));
    const auto own = on.device.allocate(bytes_of_floats(64));
    enqueue(on, *shared, *own);
    const Error error = error_of([&on] { on.stream->synchronize(); });
    EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
    EXPECT_TRUE(mentions(error, "different collectives")) << error.what();
  });
}

TEST(SharedMemoryMismatchTest, DifferentCollectives_AreACommunicationErrorOnAll) {
  expect_mismatch([](Rank& on, Buffer& shared, Buffer&) {
    if (on.rank == 0)
      return on.communicator->all_reduce(*on.stream, shared.as<float>(), ReduceOp::kSum);
    on.communicator->broadcast(*on.stream, shared.as<float>(), 0);
  });
}

TEST(SharedMemoryMismatchTest, DifferentRoots_AreACommunicationErrorOnAll) {
  expect_mismatch([](Rank& on, Buffer& shared, Buffer&) {
    on.communicator->broadcast(*on.stream, shared.as<float>(), on.rank);
  });
}

TEST(SharedMemoryMismatchTest, DifferentMemory_IsACommunicationErrorOnAll) {
  expect_mismatch([](Rank& on, Buffer& shared, Buffer& own) {
    Buffer& mine = on.rank == 0 ? shared : own;
    on.communicator->all_reduce(*on.stream, mine.as<float>(), ReduceOp::kSum);
  });
  expect_mismatch([](Rank& on, Buffer& shared, Buffer&) {
    on.communicator->all_reduce(*on.stream, shared.as<float>().subspan(16 * on.rank, 16),
                                ReduceOp::kSum);
  });
}

TEST(SharedMemoryMismatchTest, DifferentBlocks_AreACommunicationErrorOnAll) {
  expect_mismatch([](Rank& on, Buffer& shared, Buffer& own) {
    const std::vector<Block> blocks{{0, 4}, {4 + on.rank, 4}};
    on.communicator->scatter(*on.stream, shared.as<float>(), own.as<float>(4), blocks, 0);
  });
}

TEST(SharedMemoryMismatchTest, DifferentRootsOfAGather_AreACommunicationErrorOnAll) {
  expect_mismatch([](Rank& on, Buffer& shared, Buffer& own) {
    on.communicator->gather(*on.stream, own.as<float>(4), shared.as<float>(), {{0, 4}, {4, 4}},
                            on.rank);
  });
}

TEST(SharedMemoryMismatchTest, ReduceAndAllReduce_AreACommunicationErrorOnAll) {
  expect_mismatch([](Rank& on, Buffer& shared, Buffer&) {
    if (on.rank == 0) return on.communicator->reduce(*on.stream, shared.as<float>(), 0);
    on.communicator->all_reduce(*on.stream, shared.as<float>(), ReduceOp::kSum);
  });
}

TEST(SharedMemoryFaultTest, RankThatNeverComes_IsACommunicationErrorAtTheDeadline) {
  const TimePoint start = Clock::now();
  on_ranks(
      3,
      [](Rank& on) {
        const auto shared = on.communicator->allocate(bytes_of_floats(64));
        if (on.rank == 1) return;
        on.communicator->all_reduce(*on.stream, shared->as<float>(), ReduceOp::kSum);
        const Error error = error_of([&on] { on.stream->synchronize(); });
        EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
        EXPECT_TRUE(mentions(error, "for rank 1,")) << error.what();
      },
      milliseconds(200));
  EXPECT_LT(Clock::now() - start, seconds(20));
}

TEST(SharedMemoryFaultTest, LateRankAtABarrier_IsACommunicationErrorAtTheDeadline) {
  on_ranks(
      2,
      [](Rank& on) {
        if (on.rank == 1) return;
        EXPECT_EQ(error_of([&on] { on.communicator->barrier(); }).kind(),
                  ErrorKind::kCommunication);
      },
      milliseconds(200));
}

TEST(SharedMemoryFaultTest, Abort_EndsQueuedAndFutureCallsOfAllRanks) {
  const TimePoint start = Clock::now();
  on_ranks(3, [](Rank& on) {
    const auto shared = on.communicator->allocate(bytes_of_floats(64));
    if (on.rank == 2) {
      on.communicator->abort();
    } else {
      on.communicator->all_reduce(*on.stream, shared->as<float>(), ReduceOp::kSum);
      EXPECT_EQ(error_of([&on] { on.stream->synchronize(); }).kind(), ErrorKind::kCommunication);
    }
    EXPECT_EQ(error_of([&on] { on.communicator->barrier(); }).kind(), ErrorKind::kCommunication);
  });
  EXPECT_LT(Clock::now() - start, seconds(20));  // and not at the deadline of a minute
}

TEST(SharedMemoryFaultTest, OneDeviceThatIsFull_IsOutOfMemoryOnAllRanks_AndLeaksNothing) {
  // Rank 1 on a platform of its own, with little memory.
  const auto roomy = host_devices(2);
  PlatformOptions options;
  options.devices = 2;
  options.oversubscribe = true;
  options.device_memory = {mib(2)};
  const auto narrow = host::make_host_platform(options);
  run_ranks_as_threads(2, [&](Bootstrap& bootstrap) {
    Rank on(bootstrap, bootstrap.rank() == 0 ? *roomy : *narrow, seconds(60));
    const Bytes before = on.device.memory().used;
    const Error error = error_of([&] { static_cast<void>(on.communicator->allocate(mib(2))); });
    EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
    EXPECT_TRUE(mentions(error, "host:1")) << error.what();
    EXPECT_EQ(on.device.memory().used, before);
    barrier(bootstrap);
  });
}

}  // namespace
}  // namespace tandem::test
