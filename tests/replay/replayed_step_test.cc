// SPDX-License-Identifier: Apache-2.0
//
// Small logs against closed forms, to the nanosecond.
#include "tools/tandem/replay/replayed_step.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/replay/log_text.h"
#include "tests/support/errors.h"
#include "tests/support/round_machine.h"

namespace tandem::replay {
namespace {

using test::LogText;

constexpr Nanoseconds ns(std::int64_t count) { return Nanoseconds{count}; }

class ReplayedStepTest : public testing::Test {
 protected:
  ReplayedStep replayed(const std::vector<LogText>& logs, double host_speed = 1) {
    const test::ScratchFolder folder;
    for (const LogText& log : logs) log.write_into(folder);
    return replay_step(read_call_logs(folder / "calls"), 0, machine_, host_speed);
  }

  HardwareDescription machine_ = test::round_machine();
};

// The second thread is started at 10, asks for the lock at 15 and is done 40 later.
LogText two_threads(bool has_lock) {
  LogText log;
  log.mark({0, 0, 0});
  if (has_lock) log.lock({0, 0, 0}, 1).lock({0, 100, 100}, 0);
  log.object({0, 10, 10}, "post", 7).object({1, 12, 0}, "woken", 7);
  if (has_lock) log.lock({1, 110, 0}, 1).lock({1, 150, 40}, 0);
  log.object({0, 100, 100}, "post", 9);
  log.object({1, 150, 40}, "post", 8).object({0, 160, 100}, "woken", 8);
  return log.mark({0, 170, 110});
}

TEST_F(ReplayedStepTest, TwoThreads_ShareTheLock) {
  machine_.host.wake.value = ns(5);
  const ReplayedStep step = replayed({two_threads(true)});
  EXPECT_EQ(step.time, ns(100 + 5 + 40 + 5 + 10));  // both notice 5 later that they may go on
  EXPECT_EQ(step.hosts.at(0).with_lock, ns(140));
  EXPECT_EQ(step.hosts.at(0).without_lock, ns(10));
}

// The first thread has the lock through two launches; the second one comes for it at 4.
LogText launches_under_the_lock() {
  LogText log;
  log.mark({0, 0, 0}).object({0, 0, 0}, "post", 7).lock({0, 0, 0}, 1);
  log.object({1, 0, 0}, "woken", 7).lock({1, 40, 4}, 1).lock({1, 45, 9}, 0);
  log.object({1, 45, 9}, "post", 8);
  return log.fill({0, 10, 10}, 100).fill({0, 20, 20}, 100).lock({0, 30, 30}, 0);
}

TEST_F(ReplayedStepTest, AThreadThatHasTheLock_KeepsItThroughItsLaunches) {
  machine_.host.launch.value = ns(3);
  LogText log = launches_under_the_lock();
  EXPECT_EQ(replayed({log.mark({0, 50, 30})}).time, ns((10 + 3) + (10 + 3) + 10));
}

TEST_F(ReplayedStepTest, AThreadThatWaitedForTheLock_HasItBehindAWakeUp) {
  machine_.host.wake.value = ns(2);
  LogText log = launches_under_the_lock();
  log.object({0, 50, 30}, "woken", 8).mark({0, 50, 30});
  EXPECT_EQ(replayed({log}).time, ns(30 + 2 + 5 + 2));
}

// What a thread waits for may need the lock that the log, in another order, has it keep.
TEST_F(ReplayedStepTest, AThreadThatWaits_LetsOthersHaveTheLock) {
  LogText log;
  log.mark({0, 0, 0}).object({0, 0, 0}, "post", 7).object({1, 0, 0}, "woken", 7);
  log.lock({1, 20, 20}, 1).lock({1, 30, 30}, 0).object({1, 30, 30}, "post", 8);
  log.lock({0, 31, 1}, 1).object({0, 32, 2}, "woken", 8).lock({0, 37, 7}, 0);
  EXPECT_EQ(replayed({log.mark({0, 38, 8})}).time, ns(30 + 5 + 1));
}

TEST_F(ReplayedStepTest, TwoThreadsWithoutALock_WorkAtOnce) {
  machine_.host.wake.value = ns(5);
  // The second thread is done at 55, before the first one comes to wait for it.
  EXPECT_EQ(replayed({two_threads(false)}).time, ns(100 + 10));
}

TEST_F(ReplayedStepTest, AFasterHost_TakesItsPartOfTheTime) {
  EXPECT_EQ(replayed({two_threads(true)}, 2).time, ns((100 + 40 + 10) / 2));
}

TEST_F(ReplayedStepTest, TheLogsOwnTime_IsNoHostWork) {
  LogText log(1, 2);
  log.mark({0, 0, 0}).object({0, 30, 30}, "post", 1).mark({0, 31, 31});
  EXPECT_EQ(replayed({log}).time, ns(28));  // 30 - 2, and nothing of 1 - 2
}

TEST_F(ReplayedStepTest, WorkBeforeTheStep_IsNotInIt) {
  LogText log;
  log.object({1, 5, 5}, "post", 1).mark({0, 100, 0});
  log.object({1, 130, 90}, "post", 2).object({0, 140, 0}, "woken", 2).mark({0, 150, 3});
  EXPECT_EQ(replayed({log}).time, ns(30 + 3));  // no more than passed since the mark
}

TEST_F(ReplayedStepTest, TwoStreamsAndAnEvent_ShareTheDevice) {
  machine_.host.launch.value = ns(3);
  LogText log;
  log.mark({0, 0, 0}).fill({0, 20, 20}, 10'000);
  log.call({0, 20, 20}, "event", "cudaEventRecord", 0, 0, R"("event":5)");
  log.call({0, 20, 20}, "wait", "cudaStreamWaitEvent", 0, 7, R"("event":5)");
  log.fill({0, 20, 20}, 5'000, 0, 7).fill({0, 20, 20}, 2'000);
  log.synchronise({0, 20, 20}, 0, 7).mark({0, 27, 27});
  const ReplayedStep step = replayed({log});
  // Both streams go on when the event is over, at half the speed until the shorter one is done.
  const std::int64_t event = 20 + 3 + 100;
  EXPECT_EQ(step.time, ns(event + 2 * 20 + (50 - 20) + 7));
  EXPECT_EQ(step.computing.at(0), ns(170));
  EXPECT_EQ(step.launches, 3);
}

TEST_F(ReplayedStepTest, ACollective_BeginsWithItsLastRank) {
  LogText first(1);
  first.mark({0, 0, 0}).all_reduce({0, 100, 100}, 0).synchronise({0, 100, 100}, 0, 3);
  first.mark({0, 100, 100});
  LogText second(2);  // another process's clock begins where it likes
  second.mark({0, 5000, 0}).all_reduce({0, 5040, 40}, 1).synchronise({0, 5040, 40}, 1, 3);
  second.mark({0, 5050, 50});
  const ReplayedStep step = replayed({first, second});
  // A ring of two passes half of 8,000 bytes twice, ten in a nanosecond.
  EXPECT_EQ(step.time, ns(100 + 800 + 10));
  EXPECT_EQ(step.collectives, 1);
}

TEST_F(ReplayedStepTest, RanksOfOneProcess_MeetInTheirGroup) {
  LogText log;
  log.mark({0, 0, 0}).all_reduce({0, 10, 10}, 0, 4).all_reduce({0, 20, 20}, 1, 4);
  log.call({0, 30, 30}, "group", "ncclGroupEnd", 0, 0, R"("group":4)");
  log.call({0, 30, 30}, "sync", "cudaDeviceSynchronize", 1, 0, R"("event":0)").mark({0, 30, 30});
  EXPECT_EQ(replayed({log}).time, ns(30 + 800));
}

TEST_F(ReplayedStepTest, ABlockingCopy_HoldsItsThread) {
  const auto copied = [](std::string_view function) {
    LogText log;
    log.mark({0, 0, 0});
    log.call({0, 10, 10}, "copy", function, 0, 0, R"("bytes":400,"from":-1,"to":0)");
    return log.mark({0, 15, 15});
  };
  EXPECT_EQ(replayed({copied("cudaMemcpy")}).time, ns(10 + 100 + 5));
  EXPECT_EQ(replayed({copied("cudaMemcpyAsync")}).time, ns(10 + 5));
}

TEST_F(ReplayedStepTest, WhoWaitsForAnotherThreadsEvent_ComesAfterItsRecord) {
  LogText log;
  log.mark({0, 0, 0}).object({0, 0, 0}, "post", 1).object({1, 0, 0}, "woken", 1);
  log.call({1, 90, 90}, "event", "cudaEventRecord", 1, 0, R"("event":5)");
  log.call({0, 95, 5}, "wait", "cudaStreamWaitEvent", 0, 0, R"("event":5)").mark({0, 99, 9});
  EXPECT_EQ(replayed({log}).time, ns(90 + 4));
}

// ---- what cannot be solved ----

TEST_F(ReplayedStepTest, ACollectiveWithoutARank_IsNamed) {
  LogText log;
  log.mark({0, 0, 0}).all_reduce({0, 1, 1}, 0).mark({0, 2, 2});
  const Error error = test::error_of([&] { (void)replayed({log}); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(test::mentions(
      error,
      "rank 1 is missing in an all-reduce of 8000 bytes among 2 ranks; give the logs of all"))
      << error.what();
}

TEST_F(ReplayedStepTest, RanksOfDifferentCollectives_AreNamed) {
  LogText first(1);
  first.mark({0, 0, 0}).all_reduce({0, 1, 1}, 0).mark({0, 2, 2});
  LogText second(2);
  second.mark({0, 0, 0}).all_reduce({0, 1, 1}, 1, 0, 4000).mark({0, 2, 2});
  const Error error = test::error_of([&] { (void)replayed({first, second}); });
  EXPECT_TRUE(test::mentions(error, "rank 1 calls an all-reduce of 4000 bytes")) << error.what();
}

TEST_F(ReplayedStepTest, AMachineWithTooFewGpus_IsRefused) {
  machine_.node.gpus.value = 1;
  LogText log;
  log.mark({0, 0, 0}).fill({0, 1, 1}, 100, 1).mark({0, 2, 2});
  const Error error = test::error_of([&] { (void)replayed({log}); });
  EXPECT_TRUE(test::mentions(error, "it uses GPU 1, and round machine has 1")) << error.what();
}

}  // namespace
}  // namespace tandem::replay
