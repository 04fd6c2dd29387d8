// SPDX-License-Identifier: Apache-2.0
// Whether intervals hold the truth as often as they say, on launches of which the truth is known.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "common/stats/comparison.h"
#include "common/stats/estimate.h"
#include "tests/stats/simulated.h"

namespace tandem::stats {
namespace {

constexpr double kSigma = 0.02;  // of logs of launch medians, as on two virtual cores

// The share of `runs` intervals that hold `truth`.
template <class MakeEstimate>
double coverage(int runs, double truth, MakeEstimate make) {
  int held = 0;
  for (int run = 0; run < runs; ++run) held += make().interval->holds(truth) ? 1 : 0;
  return static_cast<double>(held) / runs;
}

constexpr int kRuns = 4000;

class Coverage : public testing::TestWithParam<int> {};

TEST_P(Coverage, Center_Is93To97Percent) {
  Simulated simulated(1);
  const double found =
      coverage(kRuns, 0.01, [&] { return center_by_t(simulated.launches(GetParam(), kSigma)); });
  RecordProperty("coverage", std::to_string(found));
  EXPECT_GE(found, 0.93);
  EXPECT_LE(found, 0.97);
}

// One side scatters three times as much as the other.
TEST_P(Coverage, Ratio_Is93To97Percent) {
  Simulated simulated(2);
  const double found = coverage(kRuns, 2, [&] {
    return ratio_by_t(simulated.launches(GetParam(), kSigma, 0.02),
                      simulated.launches(GetParam(), kSigma / 3, 0.01));
  });
  RecordProperty("coverage", std::to_string(found));
  EXPECT_GE(found, 0.93);
  EXPECT_LE(found, 0.97);
}

// One launch in ten is a tenth slower, which is five standard deviations. What an interval is then
// for is the mean over disturbed launches and others; few launches often hold no disturbed one.
TEST_P(Coverage, Center_OfDisturbedLaunches_FallsShort) {
  Simulated simulated(4);
  const double truth = 0.01 * std::pow(1.1, 0.1);
  const double found = coverage(
      kRuns, truth, [&] { return center_by_t(simulated.disturbed_launches(GetParam(), kSigma)); });
  RecordProperty("coverage", std::to_string(found));
  EXPECT_GE(found, 0.80);
  EXPECT_LE(found, 0.96);
}

// Two cells that are disturbed alike are compared fairly all the same.
TEST_P(Coverage, Ratio_OfDisturbedLaunches_HoldsWhatItSays) {
  Simulated simulated(5);
  const double found = coverage(kRuns, 1, [&] {
    return ratio_by_t(simulated.disturbed_launches(GetParam(), kSigma),
                      simulated.disturbed_launches(GetParam(), kSigma));
  });
  RecordProperty("coverage", std::to_string(found));
  EXPECT_GE(found, 0.93);
}

INSTANTIATE_TEST_SUITE_P(Launches, Coverage, testing::Values(6, 10, 20));

}  // namespace
}  // namespace tandem::stats
