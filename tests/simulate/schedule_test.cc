// SPDX-License-Identifier: Apache-2.0
//
// The schedule against closed forms, each to the nanosecond.
#include "simulate/engine/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/base/error.h"
#include "simulate/cost/collective_time.h"
#include "tests/support/errors.h"

namespace tandem::simulated {
namespace {

constexpr double kGigabyte = 1e9;  // per second: a byte per nanosecond

constexpr Nanoseconds ns(std::int64_t count) { return Nanoseconds{count}; }

// A schedule whose lanes have names of no matter.
class ScheduleTest : public ::testing::Test {
 protected:
  LaneId lane(TaskId after = kNoTask) { return schedule_.add_lane("lane", after); }
  Nanoseconds end_of_lane(LaneId lane) { return schedule_.end_of(schedule_.last_of(lane)); }

  Schedule schedule_;
};

// ---- order ----

TEST_F(ScheduleTest, Nothing_EndsAtOnce) {
  EXPECT_EQ(schedule_.end_of(kNoTask), ns(0));
  EXPECT_EQ(end_of_lane(lane()), ns(0));
}

TEST_F(ScheduleTest, Chain_IsTheSumOfItsTasks) {
  const LaneId chain = lane();
  for (const int duration : {7, 0, 30, 1}) schedule_.add(chain, Pause{ns(duration)});
  EXPECT_EQ(end_of_lane(chain), ns(38));
}

TEST_F(ScheduleTest, ForkAndJoin_TakeTheLongestBranch) {
  const LaneId caller = lane();
  const TaskId fork = schedule_.add(caller, Pause{ns(10)});
  std::vector<LaneId> branches;
  for (const int duration : {5, 40, 20}) {
    branches.push_back(lane(fork));
    schedule_.add(branches.back(), Pause{ns(duration)});
  }
  for (const LaneId branch : branches) schedule_.add(caller, Pause{}, schedule_.last_of(branch));
  schedule_.add(caller, Pause{ns(1)});
  EXPECT_EQ(end_of_lane(caller), ns(51));
}

TEST_F(ScheduleTest, Event_OrdersTheWorkBehindIt_AndNotTheWorkBefore) {
  const LaneId producer = lane();
  const LaneId consumer = lane();
  const TaskId event = schedule_.add(producer, Pause{ns(100)});
  const TaskId before = schedule_.add(consumer, Pause{ns(30)});
  const TaskId behind = schedule_.add(consumer, Pause{ns(5)}, event);
  EXPECT_EQ(schedule_.end_of(before), ns(30));
  EXPECT_EQ(schedule_.end_of(behind), ns(105));
}

TEST_F(ScheduleTest, Event_ThatHasPassed_HoldsNobodyUp) {
  const TaskId event = schedule_.add(lane(), Pause{ns(10)});
  const LaneId consumer = lane();
  schedule_.add(consumer, Pause{ns(30)});
  schedule_.add(consumer, Pause{ns(5)}, event);
  EXPECT_EQ(end_of_lane(consumer), ns(35));
}

TEST_F(ScheduleTest, WakeUp_CostsALaneThatStoodStill_AndNoOther) {
  const TaskId event = schedule_.add(lane(), Pause{ns(100)});
  const LaneId still = lane();
  schedule_.add(still, Pause{ns(30)});
  const TaskId woken = schedule_.add(still, WakeUp{ns(7)}, event);
  const LaneId busy = lane();
  schedule_.add(busy, Pause{ns(100)});
  const TaskId at_once = schedule_.add(busy, WakeUp{ns(7)}, event);
  EXPECT_EQ(schedule_.end_of(woken), ns(107));
  EXPECT_EQ(schedule_.end_of(at_once), ns(100));
  // The event was settled before: it is over for a lane that comes later.
  EXPECT_EQ(schedule_.end_of(schedule_.add(still, WakeUp{ns(7)}, event)), ns(107));
}

TEST_F(ScheduleTest, NotBefore_WaitsForItsTime_UnlessThatHasPassed) {
  const LaneId waiting = lane();
  const TaskId late = schedule_.add(waiting, NotBefore{ns(50)});
  const TaskId at_once = schedule_.add(waiting, NotBefore{ns(20)});
  EXPECT_EQ(schedule_.end_of(late), ns(50));
  EXPECT_EQ(schedule_.end_of(at_once), ns(50));
}

TEST_F(ScheduleTest, TasksAddedLater_GoOnWhereTheirLanesEnded) {
  const LaneId first = lane();
  const LaneId second = lane();
  const TaskId early = schedule_.add(first, Pause{ns(100)});
  EXPECT_EQ(end_of_lane(first), ns(100));
  schedule_.add(second, Pause{ns(1)}, early);
  schedule_.add(first, Pause{ns(7)});
  EXPECT_EQ(end_of_lane(second), ns(101));
  EXPECT_EQ(end_of_lane(first), ns(107));
  EXPECT_EQ(schedule_.end_of(early), ns(100));
}

// ---- the shared interpreter ----

// The end of `threads` that each make `calls` of `cost` with a pause before each call.
Nanoseconds end_of_threads(int threads, int calls, Nanoseconds cost, Nanoseconds pause) {
  Schedule schedule;
  const LockId lock = schedule.add_lock();
  std::vector<LaneId> lanes;
  for (int i = 0; i < threads; ++i) {
    lanes.push_back(schedule.add_lane("thread"));
    for (int call = 0; call < calls; ++call) {
      schedule.add(lanes.back(), Pause{pause});
      schedule.add(lanes.back(), LockedCall{lock, cost});
    }
  }
  Nanoseconds end{0};
  for (const LaneId lane : lanes) end = std::max(end, schedule.end_of(schedule.last_of(lane)));
  return end;
}

class SharedLock : public ::testing::TestWithParam<int> {};

TEST_P(SharedLock, WithoutPauses_IsNeverIdle) {
  EXPECT_EQ(end_of_threads(GetParam(), 6, ns(8), ns(0)), ns(GetParam() * 6 * 8));
}

// Threads take turns; where the pause covers all others' calls, only the first round waits.
TEST_P(SharedLock, BehindLongPauses_CostsOneRoundAlone) {
  const int threads = GetParam();
  EXPECT_EQ(end_of_threads(threads, 6, ns(8), ns(100)), ns(6 * 108 + (threads - 1) * 8));
}

TEST_P(SharedLock, OfOneThreadEach_CostsTheOthersNothing) {
  Schedule schedule;
  Nanoseconds end{0};
  for (int i = 0; i < GetParam(); ++i) {
    const LaneId lane = schedule.add_lane("thread");
    schedule.add(lane, LockedCall{schedule.add_lock(), ns(8)});
    end = std::max(end, schedule.end_of(schedule.last_of(lane)));
  }
  EXPECT_EQ(end, ns(8));
}

INSTANTIATE_TEST_SUITE_P(Threads, SharedLock, testing::Values(2, 3, 4));

TEST_F(ScheduleTest, Lock_IsGrantedInTheOrderOfTime_NotOfRecording) {
  const LockId lock = schedule_.add_lock();
  const LaneId late = lane();
  const LaneId early = lane();
  schedule_.add(late, Pause{ns(10)});
  schedule_.add(late, LockedCall{lock, ns(8)});
  schedule_.add(early, Pause{ns(5)});
  schedule_.add(early, LockedCall{lock, ns(8)});
  EXPECT_EQ(end_of_lane(early), ns(13));
  EXPECT_EQ(end_of_lane(late), ns(21));
}

TEST_F(ScheduleTest, Lock_IsStillHeldBehindASettledCall) {
  const LockId lock = schedule_.add_lock();
  const TaskId held = schedule_.add(lane(), LockedCall{lock, ns(50)});
  EXPECT_EQ(schedule_.end_of(held), ns(50));
  EXPECT_EQ(schedule_.end_of(schedule_.add(lane(), LockedCall{lock, ns(8)})), ns(58));
}

// ---- transfers ----

TEST_F(ScheduleTest, CopiesOneAfterAnotherThroughAPort_TakeACopyLoopsTime) {
  constexpr int kRanks = 5;
  const LinkModel link{.latency = ns(2000), .bytes_per_second = 10 * kGigabyte};
  const PathId port = schedule_.add_path({schedule_.add_link(link.bytes_per_second)});
  const LaneId root = lane();
  for (int rank = 1; rank < kRanks; ++rank) {
    schedule_.add(root, Pause{link.latency});
    schedule_.add(root, PathTransfer{port, Bytes{50'000}});
  }
  EXPECT_EQ(end_of_lane(root), (kRanks - 1) * transfer_time(link, Bytes{50'000}));
}

TEST_F(ScheduleTest, CopiesAtOnceThroughAPort_ShareIt) {
  const LinkId egress = schedule_.add_link(12 * kGigabyte);
  std::vector<LaneId> lanes;
  for (int rank = 1; rank < 5; ++rank) {
    lanes.push_back(lane());
    const PathId path = schedule_.add_path({egress, schedule_.add_link(12 * kGigabyte)});
    schedule_.add(lanes.back(), PathTransfer{path, Bytes{30'000}});
  }
  for (const LaneId one : lanes) EXPECT_EQ(end_of_lane(one), ns(4 * 30'000 / 12));
}

TEST_F(ScheduleTest, AShortCopy_SlowsALongOneForAWhile) {
  const PathId path = schedule_.add_path({schedule_.add_link(kGigabyte)});
  const LaneId long_lane = lane();
  const LaneId short_lane = lane();
  schedule_.add(long_lane, PathTransfer{path, Bytes{1000}});
  schedule_.add(short_lane, Pause{ns(200)});
  schedule_.add(short_lane, PathTransfer{path, Bytes{100}});
  EXPECT_EQ(end_of_lane(short_lane), ns(400));  // at half the rate
  EXPECT_EQ(end_of_lane(long_lane), ns(1100));
}

// ---- collectives ----

TEST_F(ScheduleTest, Collective_BeginsWithItsLastRank_AndEndsEverywhereAtOnce) {
  const ProcessorId processor = schedule_.add_processor(0);
  const CollectiveId sum = schedule_.add_collective({.parts = 3, .duration = ns(40)});
  std::vector<LaneId> ranks;
  for (const int arrival : {10, 70, 30}) {
    ranks.push_back(lane());
    schedule_.add(ranks.back(), Pause{ns(arrival)});
    schedule_.add(ranks.back(), CollectivePart{sum, processor});
  }
  for (const LaneId rank : ranks) EXPECT_EQ(end_of_lane(rank), ns(110));
}

// A ring in which every rank passes a part on in each step, when the part before has come.
TEST_F(ScheduleTest, RingOfTransfers_TakesTheRingsTime) {
  constexpr int kRanks = 4;
  constexpr Bytes kSize{80'000};
  const LinkModel link{.latency = ns(500), .bytes_per_second = 4 * kGigabyte};
  std::vector<LaneId> ranks;
  std::vector<PathId> to_next;
  for (int i = 0; i < kRanks; ++i) {
    ranks.push_back(lane());
    to_next.push_back(schedule_.add_path({schedule_.add_link(link.bytes_per_second)}));
  }
  for (int step = 0; step < 2 * (kRanks - 1); ++step) {
    std::vector<TaskId> came;
    for (const LaneId rank : ranks) came.push_back(schedule_.last_of(rank));
    for (std::size_t i = 0; i < kRanks; ++i) {
      schedule_.add(ranks[i], Pause{link.latency}, came[(i + kRanks - 1) % kRanks]);
      schedule_.add(ranks[i], PathTransfer{to_next[i], Bytes{kSize.value / kRanks}});
    }
  }
  EXPECT_EQ(end_of_lane(ranks[0]), 2 * ring_pass_time(link, kSize, kRanks));
}

// Buckets become ready at even distances of backward; each collective waits for its bucket and for
// the collective before.
TEST_F(ScheduleTest, BucketsBesideBackward_EndBehindTheSlowerOfTheTwo) {
  const auto end_with = [](Nanoseconds backward, Nanoseconds sum) {
    Schedule schedule;
    const ProcessorId processor = schedule.add_processor(0);
    const LaneId compute = schedule.add_lane("compute");
    const LaneId comm = schedule.add_lane("comm");
    for (int bucket = 0; bucket < 5; ++bucket) {
      const TaskId ready = schedule.add(compute, Computation{processor, backward});
      const CollectiveId reduced = schedule.add_collective({.parts = 1, .duration = sum});
      schedule.add(comm, CollectivePart{reduced, processor}, ready);
    }
    return schedule.end_of(schedule.last_of(comm));
  };
  EXPECT_EQ(end_with(ns(100), ns(30)), ns(5 * 100 + 30));
  EXPECT_EQ(end_with(ns(30), ns(100)), ns(30 + 5 * 100));
}

TEST_F(ScheduleTest, CollectiveThatLacksARank_IsALogicErrorThatNamesTheLane) {
  const ProcessorId processor = schedule_.add_processor(0);
  const CollectiveId sum = schedule_.add_collective({.parts = 2, .duration = ns(40)});
  const LaneId alone = schedule_.add_lane("stream 0 of rank 1");
  schedule_.add(alone, CollectivePart{sum, processor});
  const Error error = test::error_of([&] { static_cast<void>(end_of_lane(alone)); });
  EXPECT_EQ(error.kind(), ErrorKind::kLogic);
  EXPECT_NE(std::string(error.what()).find("stream 0 of rank 1"), std::string::npos);
}

// ---- what computations share ----

TEST_F(ScheduleTest, Computation_BesideACollective_IsSlowerForAsLongAsDataMoves) {
  const ProcessorId processor = schedule_.add_processor(0.25);
  const LaneId compute = lane();
  const LaneId comm = lane();
  schedule_.add(compute, Computation{processor, ns(1000)});
  schedule_.add(comm, Pause{ns(200)});
  const CollectiveId sum = schedule_.add_collective({.parts = 1, .duration = ns(500)});
  schedule_.add(comm, CollectivePart{sum, processor});
  EXPECT_EQ(end_of_lane(comm), ns(700));
  EXPECT_EQ(end_of_lane(compute), ns(200 + 500 + 400));  // 400 of the 800 in these 500
}

TEST_F(ScheduleTest, Computation_BesideACollectiveThatWaitsForARank_IsNotSlower) {
  const ProcessorId here = schedule_.add_processor(0.25);
  const ProcessorId there = schedule_.add_processor(0.25);
  const LaneId compute = lane();
  const LaneId late = lane();
  schedule_.add(compute, Computation{here, ns(100)});
  const CollectiveId sum = schedule_.add_collective({.parts = 2, .duration = ns(10)});
  schedule_.add(lane(), CollectivePart{sum, here});
  schedule_.add(late, Pause{ns(100)});
  schedule_.add(late, CollectivePart{sum, there});
  EXPECT_EQ(end_of_lane(compute), ns(100));
}

TEST_F(ScheduleTest, ComputationsOfTwoStreams_ShareTheirDevice_AndNoOther) {
  const ProcessorId shared = schedule_.add_processor(0);
  const ProcessorId other = schedule_.add_processor(0);
  const LaneId first = lane();
  const LaneId second = lane();
  const LaneId elsewhere = lane();
  schedule_.add(first, Computation{shared, ns(100)});
  schedule_.add(second, Computation{shared, ns(300)});
  schedule_.add(elsewhere, Computation{other, ns(100)});
  EXPECT_EQ(end_of_lane(first), ns(200));
  EXPECT_EQ(end_of_lane(second), ns(400));
  EXPECT_EQ(end_of_lane(elsewhere), ns(100));
}

}  // namespace
}  // namespace tandem::simulated
