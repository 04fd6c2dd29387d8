// SPDX-License-Identifier: Apache-2.0
// How often two documents of the same program differ, and how often a planted slow-down is
// found: 1000 pairs of documents each, as summaries.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "common/stats/comparison.h"
#include "tests/stats/simulated.h"

namespace tandem::stats {
namespace {

constexpr int kPairs = 1000;
constexpr double kThreshold = 0.03;

// Standard deviations of the logs of launch medians, of the 21 cells in
// reports/samples/quick-2-cores.
const std::vector<double> kMeasured{0.0126, 0.0131, 0.0146, 0.0147, 0.0147, 0.0148, 0.0149,
                                    0.0151, 0.0151, 0.0191, 0.0200, 0.0202, 0.0210, 0.0211,
                                    0.0261, 0.0287, 0.0289, 0.0292, 0.0292, 0.0352, 0.0369};

// Launches of one cell of a document; `is_after` of the second one.
using Draw = std::function<std::vector<double>(double sigma, bool is_after, std::size_t cell)>;

std::vector<Change> compare_pair(const std::vector<double>& sigmas, const Draw& draw,
                                 double between_runs) {
  std::vector<Change> changes;
  for (std::size_t cell = 0; cell < sigmas.size(); ++cell) {
    const std::vector<double> before = draw(sigmas[cell], false, cell);
    const std::vector<double> after = draw(sigmas[cell], true, cell);
    const double confidence = confidence_of_each(sigmas.size());
    changes.push_back(
        judge_change(ratio_by_t(after, before, confidence, between_runs), kThreshold));
  }
  return changes;
}

// The share of pairs of documents in which `what` holds of the cells' changes.
double share(const std::vector<double>& sigmas, const Draw& draw,
             const std::function<bool(const std::vector<Change>&)>& what, double between_runs = 0) {
  int found = 0;
  for (int pair = 0; pair < kPairs; ++pair) {
    found += what(compare_pair(sigmas, draw, between_runs)) ? 1 : 0;
  }
  const double result = static_cast<double>(found) / kPairs;
  testing::Test::RecordProperty("share", std::to_string(result));
  return result;
}

bool any_changed(const std::vector<Change>& changes) {
  return std::any_of(changes.begin(), changes.end(), [](Change change) {
    return change == Change::kSlower || change == Change::kFaster;
  });
}

bool any_slower(const std::vector<Change>& changes) {
  return std::find(changes.begin(), changes.end(), Change::kSlower) != changes.end();
}

bool first_slower(const std::vector<Change>& changes) { return changes[0] == Change::kSlower; }

class FalseAlarms : public testing::TestWithParam<int> {};

TEST_P(FalseAlarms, OfTheSameProgram_InFivePercentOfDocumentsAtMost) {
  Simulated simulated(11);
  const Draw draw = [&](double sigma, bool, std::size_t) {
    return simulated.launches(GetParam(), sigma);
  };
  EXPECT_LE(share(kMeasured, draw, any_changed), 0.05);
}

TEST_P(FalseAlarms, OfLaunchesThatAreDisturbed_AreNotMore) {
  Simulated simulated(12);
  const Draw draw = [&](double sigma, bool, std::size_t) {
    return simulated.disturbed_launches(GetParam(), sigma);
  };
  EXPECT_LE(share(kMeasured, draw, any_changed), 0.05);
}

INSTANTIATE_TEST_SUITE_P(Launches, FalseAlarms, testing::Values(2, 3, 6, 10, 20));

// A baseline of many launches against few.
TEST(FalseAlarmsOfUnequalNumbers, AreNotMore) {
  Simulated simulated(13);
  const Draw draw = [&](double sigma, bool is_after, std::size_t) {
    return simulated.launches(is_after ? 4 : 20, sigma);
  };
  EXPECT_LE(share(kMeasured, draw, any_changed), 0.05);
}

// Each cell of a run off by 1.5 %, as a machine is that changes between runs.
TEST(FalseAlarmsOfAMachineThatChanges, AreNotMore_WhereItsScatterIsKnown) {
  constexpr double kBetween = 0.015;
  Simulated simulated(16);
  const Draw draw = [&](double sigma, bool, std::size_t) {
    return simulated.launches(6, sigma, 0.01 * std::exp(kBetween * simulated.normal()));
  };
  EXPECT_GT(share(kMeasured, draw, any_changed), 0.05);
  EXPECT_LE(share(kMeasured, draw, any_changed, kBetween), 0.05);
}

// Ten launches of each cell, the first of which is 3 % slower afterwards.
Draw first_slowed(Simulated& simulated) {
  return [&simulated](double sigma, bool is_after, std::size_t cell) {
    return simulated.launches(10, sigma, is_after && cell == 0 ? 0.0103 : 0.01);
  };
}

struct Case {
  std::size_t cells;
  double sigma;  // about the largest at which a 3 % slow-down is found in 80 %
};

class Planted : public testing::TestWithParam<Case> {};

TEST_P(Planted, ThreePercent_AreFoundInEightyOfAHundred) {
  Simulated simulated(14);
  const std::vector<double> sigmas(GetParam().cells, GetParam().sigma);
  EXPECT_GE(share(sigmas, first_slowed(simulated), first_slower), 0.8);
}

INSTANTIATE_TEST_SUITE_P(Variances, Planted,
                         testing::Values(Case{1, 0.022}, Case{6, 0.0165}, Case{21, 0.014}));

// As a slower program has it: where every cell is slower, it takes one to raise the alarm.
TEST(PlantedEverywhere, IsFoundAtMeasuredVariances) {
  Simulated simulated(15);
  const Draw draw = [&](double sigma, bool is_after, std::size_t) {
    return simulated.launches(10, sigma, is_after ? 0.0103 : 0.01);
  };
  EXPECT_GE(share(kMeasured, draw, any_slower), 0.99);
}

}  // namespace
}  // namespace tandem::stats
