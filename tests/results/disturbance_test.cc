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

TEST(Disturbances, AreSharesAboveTwoPercentOfTheWindowAndATick) {
  EXPECT_THAT(disturbances(lost(0.045, 0.045)), IsEmpty());
  EXPECT_THAT(disturbances(lost(0.06)),
              ElementsAre("other programs had a core for 3.0 % of the time"));
  EXPECT_THAT(disturbances(lost(0, 0.1)),
              ElementsAre("other virtual machines had a core for 5.0 % of the time"));
}

// In half a second a tick is 2 % of the window, and two are 4 %.
TEST(Disturbances, OfShortWindows_AreMoreThanATickTooMany) {
  LaunchRecord record = lost(0.0199);
  record.taken->window_seconds = 0.5;
  EXPECT_THAT(disturbances(record), IsEmpty());
  record.taken->run_delay_seconds = 0.021;
  EXPECT_EQ(disturbances(record).size(), 1U);
}

TEST(Disturbances, OfWhatIsNotTold_AreNone) {
  EXPECT_THAT(disturbances(LaunchRecord{}), IsEmpty());
  LaunchRecord untold = lost(1);
  untold.taken->run_delay_seconds.reset();
  LaunchRecord brief = lost(0.04);
  brief.taken->window_seconds = 0.05;
  EXPECT_THAT(disturbances(brief), IsEmpty());
  EXPECT_THAT(disturbances(untold), IsEmpty());
}

TEST(Disturbances, AreNotWhatALaunchBringsUponItself) {
  LaunchRecord record = lost(0);
  record.taken->throttled_seconds = 1;  // of a quota
  GpuRecord& gpu = record.gpus.emplace_back();
  gpu.watched_ms = 1000;
  gpu.held_down_ms = {{"thermal slowdown", 900}};
  EXPECT_THAT(disturbances(record), IsEmpty());
}

TEST(Disturbances, NeverSeeTheTimes) {
  for (const double step : {0.001, 1.0, 1e4}) {
    LaunchRecord quiet = lost(0.03);
    LaunchRecord loud = lost(0.06);
    quiet.step_seconds = loud.step_seconds = {step, step};
    EXPECT_THAT(disturbances(quiet), IsEmpty());
    EXPECT_EQ(disturbances(loud).size(), 1U);
  }
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
