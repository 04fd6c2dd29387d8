// SPDX-License-Identifier: Apache-2.0
//
// What holds of every schedule: the same times in every run, a cost in proportion to the tasks, and
// fair rates.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "simulate/engine/schedule.h"
#include "simulate/engine/solver.h"

namespace tandem::simulated {
namespace {

struct Wait {
  TaskId earlier;
  TaskId waiter;
};

// Lanes that compute, copy, call, wait for each other and meet, as `seed` has it.
class RandomWork {
 public:
  RandomWork(std::uint64_t seed, int lanes) : random_(seed) {
    lock_ = schedule_.add_lock();
    const LinkId shared = schedule_.add_link(2e9);
    for (int i = 0; i < lanes; ++i) {
      lanes_.push_back(schedule_.add_lane("lane"));
      processors_.push_back(schedule_.add_processor(0.05));
      paths_.push_back(schedule_.add_path({shared, schedule_.add_link(0.7e9)}));
    }
  }

  [[nodiscard]] const Schedule& schedule() const { return schedule_; }

  void add_round() {
    for (std::size_t i = 0; i < lanes_.size(); ++i) add_task(i);
    const CollectiveId sum = schedule_.add_collective(
        {.parts = static_cast<int>(lanes_.size()), .duration = some_time()});
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      schedule_.add(lanes_[i], CollectivePart{sum, processors_[i]});
    }
  }

  std::vector<Nanoseconds> ends() {
    std::vector<Nanoseconds> ends;
    for (std::int64_t task = 0; task < schedule_.size(); ++task) {
      ends.push_back(schedule_.end_of(static_cast<TaskId>(task)));
    }
    return ends;
  }

  // The end of the last task, and the length of the critical path that leads there.
  std::pair<Nanoseconds, Nanoseconds> end_and_path() {
    const Nanoseconds end = schedule_.end_of(static_cast<TaskId>(schedule_.size() - 1));
    return {end, schedule_.take_path_account().total()};
  }

  [[nodiscard]] const std::vector<Wait>& waits() const { return waits_; }

 private:
  std::int64_t up_to(std::int64_t most) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most));
  }
  Nanoseconds some_time() { return Nanoseconds{up_to(10'000)}; }

  void add_task(std::size_t lane) {
    const std::vector<Work> choices{Pause{some_time()}, LockedCall{lock_, some_time()},
                                    Computation{processors_[lane], some_time()},
                                    PathTransfer{paths_[lane], Bytes{up_to(10'000)}}};
    const auto earlier = static_cast<TaskId>(up_to(schedule_.size() + 1) - 1);
    const Work& work = choices[static_cast<std::size_t>(up_to(4))];
    const TaskId before = schedule_.last_of(lanes_[lane]);
    const TaskId task = schedule_.add(lanes_[lane], work, earlier);
    for (const TaskId one : {before, earlier}) {
      if (one != kNoTask) waits_.push_back({one, task});
    }
  }

  std::mt19937_64 random_;  // its numbers are the same everywhere
  Schedule schedule_;
  LockId lock_{};
  std::vector<LaneId> lanes_;
  std::vector<ProcessorId> processors_;
  std::vector<PathId> paths_;
  std::vector<Wait> waits_;
};

TEST(ScheduleProperties, TheSameTasks_GetTheSameTimes) {
  const auto ends_of = [](std::uint64_t seed) {
    RandomWork work(seed, 7);
    for (int round = 0; round < 50; ++round) work.add_round();
    return work.ends();
  };
  EXPECT_EQ(ends_of(1), ends_of(1));
  EXPECT_NE(ends_of(1), ends_of(2));
}

// Settled where all lanes have met, a schedule has the times of one that is settled at the end.
TEST(ScheduleProperties, SettlingWhereAllLanesMeet_ChangesNoTime) {
  RandomWork at_once(3, 5);
  RandomWork round_by_round(3, 5);
  for (int round = 0; round < 20; ++round) {
    at_once.add_round();
    round_by_round.add_round();
    static_cast<void>(round_by_round.ends());
  }
  EXPECT_EQ(round_by_round.ends(), at_once.ends());
}

TEST(ScheduleProperties, NoTaskEnds_BeforeWhatItWaitsFor) {
  RandomWork work(5, 6);
  for (int round = 0; round < 30; ++round) work.add_round();
  const std::vector<Nanoseconds> ends = work.ends();
  for (const Wait& wait : work.waits()) {
    EXPECT_GE(ends[index_of(wait.waiter)], ends[index_of(wait.earlier)]);
  }
}

TEST(ScheduleProperties, TheCriticalPath_IsAsLongAsAllTasksTake) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    RandomWork work(seed, 6);
    for (int round = 0; round < 40; ++round) work.add_round();
    const auto [end, path] = work.end_and_path();
    EXPECT_EQ(path, end) << seed;
  }
}

// The cost of settling a task.
double turns_per_task(int rounds) {
  RandomWork work(11, 8);
  for (int round = 0; round < rounds; ++round) work.add_round();
  static_cast<void>(work.ends());
  return static_cast<double>(work.schedule().turns()) / static_cast<double>(work.schedule().size());
}

TEST(ScheduleProperties, CostGrowsWithTheTasks_AndNoFaster) {
  const double few = turns_per_task(1000);
  EXPECT_GT(few, 2);  // a begin and an end at least
  EXPECT_NEAR(turns_per_task(16'000), few, 0.02 * few);
}

TEST(FairRates, ANarrowLink_LeavesTheRestToOthers) {
  const std::vector<double> links{10, 4};
  const Path both{LinkId{0}, LinkId{1}};
  const Path wide{LinkId{0}};
  const std::vector<const Path*> paths{&both, &wide, &both};
  EXPECT_EQ(fair_rates(links, paths), (std::vector<double>{2, 6, 2}));
}

TEST(FairRates, OfNoTransfers_AreNone) {
  EXPECT_TRUE(fair_rates(std::vector<double>{1, 2}, {}).empty());
}

TEST(FairRates, NeverExceedALink_AndLeaveNoTransferRoomToGrow) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> links;
    for (int i = 0; i < 6; ++i) links.push_back(static_cast<double>(1 + random() % 100));
    std::vector<Path> paths(1 + random() % 8);
    std::vector<const Path*> taken;
    for (Path& path : paths) {
      path = {static_cast<LinkId>(random() % 3), static_cast<LinkId>(3 + random() % 3)};
      taken.push_back(&path);
    }
    const std::vector<double> rates = fair_rates(links, taken);
    std::vector<double> used(links.size(), 0);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      for (const LinkId link : paths[i]) used[index_of(link)] += rates[i];
    }
    for (std::size_t i = 0; i < links.size(); ++i) EXPECT_LE(used[i], links[i] * 1.000001);
    for (const Path& path : paths) {
      const bool is_full = std::ranges::any_of(path, [&](LinkId link) {
        return used[index_of(link)] > links[index_of(link)] * 0.999999;
      });
      EXPECT_TRUE(is_full) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace tandem::simulated
