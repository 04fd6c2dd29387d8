// SPDX-License-Identifier: Apache-2.0
//
// Bootstrap and what is the shared-memory communicator's alone, with ranks as processes. Every rank
// runs every case, so a case must fail on all ranks or on none before its last collective call.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "common/comm/bootstrap.h"
#include "common/comm/node_memory.h"
#include "tests/comm/communicating_rank.h"
#include "tests/comm/mpi_world.h"

namespace tandem::test {
namespace {

using std::chrono::seconds;

class MpiTest : public testing::Test {
 protected:
  const std::unique_ptr<Platform> platform_ = host_devices(world().size());
};

TEST_F(MpiTest, Bootstrap_GathersTextsOfAnyLengthInRankOrder) {
  EXPECT_FALSE(world().shares_address_space());
  const auto text_of = [](int rank) {
    return std::string(static_cast<std::size_t>(1000 * rank), static_cast<char>('a' + rank));
  };
  const auto all = world().all_gather(text_of(world().rank()));
  ASSERT_EQ(all.size(), static_cast<std::size_t>(world().size()));
  for (int rank = 0; rank < world().size(); ++rank) {
    EXPECT_EQ(all[static_cast<std::size_t>(rank)], text_of(rank));
  }
}

TEST_F(MpiTest, AttemptTogether_ThrowsTheFirstFailureOnAll) {
  const int last = world().size() - 1;
  const Error error = error_of([&] {
    attempt_together(world(), [&] {
      if (world().rank() == last) fail(ErrorKind::kOutOfMemory, "rank {} is full", last);
    });
  });
  EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
  EXPECT_EQ(error.what(), fmt::format("rank {} is full", last));
}

TEST_F(MpiTest, RootsMemoryThatARankHasFreed_IsACommunicationErrorOnAll) {
  const TimePoint start = Clock::now();
  CommunicatingRank on(world(), *platform_, seconds(60));
  auto shared = on.communicator->allocate(bytes_of_floats(64));
  const auto own = on.device.allocate(bytes_of_floats(4));
  if (on.rank != 0) shared.reset();
  const std::vector<Block> blocks(static_cast<std::size_t>(on.size), {0, 4});
  on.communicator->scatter(*on.stream, on.rank == 0 ? shared->as<float>() : Span<float>{},
                           own->as<float>(), blocks, 0);
  const Error error = error_of([&] { on.stream->synchronize(); });
  EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
  const std::string freed = fmt::format("rank {} has freed", on.rank);
  EXPECT_TRUE(mentions(error, on.rank == 0 ? "aborted" : freed)) << error.what();
  EXPECT_LT(Clock::now() - start, seconds(20));  // and not at the deadline of a minute
  barrier(world());
}

TEST_F(MpiTest, Memory_FreedAndAllocatedAgain_IsZeroAndWorks) {
  CommunicatingRank on(world(), *platform_, seconds(60));
  for (int round = 0; round < 3; ++round) {
    const auto buffer = on.communicator->allocate(bytes_of_floats(5000));
    EXPECT_EQ(read_back<float>(on.device, buffer->as<float>()), std::vector<float>(5000, 0));
    on.check_all_reduce(buffer->as<float>(), ReduceOp::kSum);
  }
}

TEST_F(MpiTest, RankThatNeverComes_IsACommunicationErrorAtTheDeadline) {
  CommunicatingRank on(world(), *platform_, std::chrono::milliseconds(200));
  if (on.rank == 0) {
    const Error error = error_of([&] { on.communicator->barrier(); });
    EXPECT_EQ(error.peer_failure().kind, PeerFailure::Kind::kWaited) << error.what();
    EXPECT_EQ(error.peer_failure().awaited.size(), static_cast<std::size_t>(on.size - 1));
    EXPECT_EQ(error.peer_failure().awaited.front(), 1);
  }
  barrier(world());
}

TEST_F(MpiTest, RankThatNeverAllocates_IsACommunicationErrorAtTheDeadline) {
  CommunicatingRank on(world(), *platform_, std::chrono::milliseconds(200));
  if (on.rank == 0) {
    const Error error = error_of([&] { static_cast<void>(on.communicator->allocate(kib(4))); });
    EXPECT_EQ(error.kind(), ErrorKind::kCommunication) << error.what();
  }
  barrier(world());
}

TEST_F(MpiTest, Abort_EndsThoseWhoAllocate) {
  CommunicatingRank on(world(), *platform_, seconds(60));
  if (on.rank == 1) {
    on.communicator->abort();
  } else {
    const Error error = error_of([&] { static_cast<void>(on.communicator->allocate(kib(4))); });
    EXPECT_TRUE(mentions(error, "aborted")) << error.what();
  }
  barrier(world());
}

TEST_F(MpiTest, Abort_ReachesOtherProcesses) {
  CommunicatingRank on(world(), *platform_, seconds(60));
  const TimePoint start = Clock::now();
  if (on.rank == 1) {
    on.communicator->abort();
  } else {
    EXPECT_TRUE(mentions(error_of([&] { on.communicator->barrier(); }), "aborted"));
  }
  EXPECT_LT(Clock::now() - start, seconds(20));
  barrier(world());
}

// Names of shared memory that rank 0 made and that are still there.
std::vector<std::string> names_of_rank_0() {
  const std::string pid = broadcast(world(), std::to_string(getpid()), 0);
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator("/dev/shm")) {
    const std::string name = file.path().filename();
    if (name.starts_with("tandem." + pid + ".")) names.push_back(name);
  }
  return names;
}

TEST_F(MpiTest, NodeMemory_LeavesNoNameBehind) {
  const auto memory = map_node_memory(world(), kib(64));
  barrier(world());
  EXPECT_EQ(names_of_rank_0(), std::vector<std::string>{});
}

// No descriptor is left to this process while it lives.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit before_{};
};

TEST_F(MpiTest, RankThatCannotOpenNodeMemory_FailsAll_AndLeavesNoNameBehind) {
  {
    std::optional<NoMoreFiles> here;
    if (world().rank() == 1) here.emplace();
    const Error error = error_of([] { static_cast<void>(map_node_memory(world(), kib(64))); });
    EXPECT_EQ(error.kind(), ErrorKind::kFailure);
    EXPECT_TRUE(mentions(error, "opening a peer's shared memory")) << error.what();
  }
  barrier(world());
  EXPECT_EQ(names_of_rank_0(), std::vector<std::string>{});
}

}  // namespace
}  // namespace tandem::test
