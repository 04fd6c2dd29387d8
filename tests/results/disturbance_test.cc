// SPDX-License-Identifier: Apache-2.0
#include "common/results/disturbance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tandem::results {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

LaunchRecord lost(double run_delay, double steal = 0) {
  LaunchRecord record;
  record.taken = TakenTime{.window_seconds = 2,
                           .run_delay_seconds = run_delay,
                           .steal_seconds = steal,
                           .throttled_seconds = {},
                           .cpu_mhz = {}};
  return record;
}

TEST(Disturbances, AreSharesAboveTwoPercentOfTheWindow) {
  EXPECT_THAT(disturbances(lost(0.04, 0.04)), IsEmpty());
  EXPECT_THAT(disturbances(lost(0.05)),
              ElementsAre("other programs had a core for 2.5 % of the time"));
  EXPECT_THAT(disturbances(lost(0, 0.1)),
              ElementsAre("other virtual machines had a core for 5.0 % of the time"));
  LaunchRecord stopped = lost(0);
  stopped.taken->throttled_seconds = 0.2;
  EXPECT_THAT(disturbances(stopped),
              ElementsAre("a control group's quota stopped it for 10.0 % of the time"));
}

TEST(Disturbances, OfWhatIsNotTold_AreNone) {
  EXPECT_THAT(disturbances(LaunchRecord{}), IsEmpty());
  LaunchRecord untold = lost(1);
  untold.taken->run_delay_seconds.reset();
  EXPECT_THAT(disturbances(untold), IsEmpty());
}

TEST(Disturbances, NeverSeeTheTimes) {
  LaunchRecord slow = lost(0);
  slow.step_seconds = {1, 100, 10'000};
  EXPECT_THAT(disturbances(slow), IsEmpty());
}

TEST(Disturbances, OfGpusAreHeatAndOtherPrograms) {
  LaunchRecord record;
  GpuRecord& gpu = record.gpus.emplace_back();
  gpu.device = 1;
  gpu.watched_ms = 1000;
  gpu.held_down_ms = {{"power cap", 900}, {"thermal slowdown", 10}};
  gpu.processes = 1;
  EXPECT_THAT(disturbances(record), IsEmpty());
  gpu.held_down_ms["thermal slowdown"] = 100;
  gpu.processes = 2;
  EXPECT_THAT(disturbances(record),
              ElementsAre("GPU of device 1: heat held its clocks down for 10.0 % of the time",
                          "GPU of device 1: another program was on it"));
  record.oversubscribed = true;  // the other program may be a rank
  EXPECT_EQ(disturbances(record).size(), 1U);
}

TEST(CountedLaunches, AreTheUndisturbed_AsLongAsTheseAreHalf) {
  const LaunchRecord quiet = lost(0);
  const LaunchRecord loud = lost(1);
  const CountedLaunches some = counted({&quiet, &loud, &loud, &quiet});
  EXPECT_THAT(some.launches, ElementsAre(&quiet, &quiet));
  EXPECT_EQ(some.disturbed, 2);
  EXPECT_FALSE(some.holds_disturbed);

  const std::vector<const LaunchRecord*> most{&loud, &quiet, &loud};
  const CountedLaunches all = counted(most);
  EXPECT_EQ(all.launches, most);
  EXPECT_EQ(all.disturbed, 2);
  EXPECT_TRUE(all.holds_disturbed);

  EXPECT_THAT(counted({}).launches, IsEmpty());
}

}  // namespace
}  // namespace tandem::results
