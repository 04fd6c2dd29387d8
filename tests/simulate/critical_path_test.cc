// SPDX-License-Identifier: Apache-2.0
//
// Critical paths of schedules, by what their stretches are of.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "simulate/engine/schedule.h"

namespace tandem::simulated {
namespace {

class PathTest : public ::testing::Test {
 protected:
  LaneId lane() { return schedule_.add_lane("lane"); }
  static Work pause(std::int64_t duration) { return Pause{Nanoseconds{duration}}; }
  // The path that ends with the task, by name in nanoseconds.
  std::map<std::string, std::int64_t> path_to(TaskId task) {
    const Nanoseconds end = schedule_.end_of(task);
    const PathAccount account = schedule_.take_path_account();
    EXPECT_EQ(account.total(), end - from_);
    from_ = end;
    std::map<std::string, std::int64_t> found;
    for (std::size_t i = 0; i < kTimeNames.size(); ++i) {
      const Nanoseconds time = account.at(static_cast<TimeOf>(i));
      if (time > Nanoseconds{0}) found[std::string(kTimeNames[i])] = time.count();
    }
    return found;
  }

  using Times = std::map<std::string, std::int64_t>;
  Schedule schedule_;
  Nanoseconds from_{0};  // the end of the path before
};

TEST_F(PathTest, GoesThroughTheLongestBranchAlone) {
  const LaneId host = lane();
  const LaneId slow = lane();
  const LaneId fast = lane();
  const TaskId call = schedule_.add(host, pause(5));
  const TaskId copied = schedule_.add(fast, pause(30), call, TimeOf::kDescribedCopy);
  schedule_.add(slow, pause(50), call, TimeOf::kMeasuredOperation);
  const TaskId met = schedule_.add(slow, pause(7), copied, TimeOf::kScaledOperation);
  EXPECT_EQ(path_to(schedule_.add(host, pause(0), met)),
            (Times{{"host", 5}, {"operations measured", 50}, {"operations scaled", 7}}));
}

TEST_F(PathTest, OfACollective_GoesToItsLastRank) {
  const CollectiveId sum = schedule_.add_collective({.parts = 2, .duration = Nanoseconds{40}});
  const ProcessorId processor = schedule_.add_processor(0);
  std::vector<TaskId> parts;
  for (const auto& [before, of] : {std::pair{10, TimeOf::kMeasuredOperation},  //
                                   std::pair{70, TimeOf::kInterpolatedOperation}}) {
    const LaneId rank = lane();
    schedule_.add(rank, pause(before), kNoTask, of);
    parts.push_back(
        schedule_.add(rank, CollectivePart{sum, processor}, kNoTask, TimeOf::kDescribedCollective));
  }
  EXPECT_EQ(path_to(parts.front()),
            (Times{{"operations interpolated", 70}, {"collectives described", 40}}));
}

TEST_F(PathTest, OfALock_GoesThroughTheCallThatHeldIt) {
  const LockId lock = schedule_.add_lock();
  const LaneId holder = lane();
  const LaneId waiter = lane();
  schedule_.add(holder, LockedCall{lock, Nanoseconds{50}});
  schedule_.add(waiter, pause(20), kNoTask, TimeOf::kMeasuredOperation);
  EXPECT_EQ(path_to(schedule_.add(waiter, LockedCall{lock, Nanoseconds{8}})),
            (Times{{"host", 58}}));
}

TEST_F(PathTest, EndsWhereTheSettlingBegan) {
  const LaneId host = lane();
  EXPECT_EQ(path_to(schedule_.add(host, pause(9))), (Times{{"host", 9}}));
  EXPECT_EQ(path_to(schedule_.add(host, NotBefore{Nanoseconds{30}}, kNoTask, TimeOf::kWaiting)),
            (Times{{"waiting", 21}}));
}

TEST(PathAccountTest, SharesAreOfAllTime_AndLeaveOutWhatThereIsNone) {
  PathAccount account;
  EXPECT_TRUE(account.shares().empty());
  account.add(TimeOf::kHost, Nanoseconds{1});
  account.add(TimeOf::kDescribedCopy, Nanoseconds{3});
  EXPECT_EQ(account.shares(),
            (std::map<std::string, double>{{"host", 0.25}, {"copies described", 0.75}}));
}

}  // namespace
}  // namespace tandem::simulated
