// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <latch>
#include <set>
#include <thread>

#include "common/parallel/independent.h"
#include "dp/data_parallel.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

using dp::Threads;

class ParallelApplyTest : public testing::TestWithParam<Threads> {
 protected:
  const std::unique_ptr<Platform> platform_ = host_devices(3);
  dp::ParallelApply apply_{*platform_, devices_of(*platform_), GetParam()};
};

TEST_P(ParallelApplyTest, EveryReplica_HasAThreadOfItsOwn_TheCallersNoneOfThem) {
  std::array<std::thread::id, 3> threads;
  std::latch all_here(3);  // together, or never
  apply_.run([&](int i) {
    threads.at(static_cast<std::size_t>(i)) = std::this_thread::get_id();
    all_here.arrive_and_wait();
  });
  std::set<std::thread::id> distinct(threads.begin(), threads.end());
  distinct.insert(std::this_thread::get_id());
  EXPECT_EQ(distinct.size(), 4U);
}

// The lowest replica's, though others failed before it; the others' are dropped.
TEST_P(ParallelApplyTest, LowestFailure_Wins_AndSaysReplicaAndDevice) {
  std::latch two_failed(2);
  const Error error = error_of([&] {
    apply_.run([&](int i) {
      if (i == 0) return;
      if (i == 1) {
        two_failed.arrive_and_wait();
      } else {
        two_failed.count_down();
      }
      fail(ErrorKind::kFailure, "planted in {}", i);
    });
  });
  EXPECT_EQ(error.kind(), ErrorKind::kFailure);
  EXPECT_STREQ(error.what(), "caught in replica 1 on host:1: planted in 1");
}

TEST_P(ParallelApplyTest, AfterAFailure_GoesOn) {
  static_cast<void>(
      error_of([&] { apply_.run([](int) { fail(ErrorKind::kFailure, "planted"); }); }));
  std::atomic<int> ran = 0;
  apply_.run([&](int) { ++ran; });
  EXPECT_EQ(ran, 3);
}

TEST_P(ParallelApplyTest, SingleReplica_RunsOnTheCallersThread) {
  dp::ParallelApply alone(*platform_, {&platform_->device(1)}, GetParam());
  EXPECT_FALSE(alone.uses_threads());
  std::thread::id thread;
  alone.run([&](int) { thread = std::this_thread::get_id(); });
  EXPECT_EQ(thread, std::this_thread::get_id());
  const Error error =
      error_of([&] { alone.run([](int) { fail(ErrorKind::kFailure, "planted"); }); });
  EXPECT_STREQ(error.what(), "caught in replica 0 on host:1: planted");
}

INSTANTIATE_TEST_SUITE_P(Kinds, ParallelApplyTest,
                         testing::Values(Threads::kSpawned, Threads::kKept));

}  // namespace
}  // namespace tandem::test
