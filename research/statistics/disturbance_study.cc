// SPDX-License-Identifier: Apache-2.0
//
// Whether leaving out disturbed launches biases figures, on launches of which the truth is known:
// others take a share of the window, and the step takes as much longer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

#include "common/results/disturbance.h"
#include "common/stats/rounds.h"
#include "common/stats/summary.h"
#include "tests/stats/simulated.h"

namespace tandem::results {
namespace {

constexpr double kTruth = 0.01;  // the undisturbed median step, seconds
constexpr double kSigma = 0.02;  // of logs of undisturbed launches
constexpr int kPlanned = 6;
constexpr int kDocuments = 10'000;

class Machine {
 public:
  explicit Machine(double disturbed) : disturbed_(disturbed) {}

  // One launch in so many loses a tenth to half of its window, each one some thousandths.
  [[nodiscard]] LaunchRecord launch() {
    double share = -0.002 * std::log(random_.uniform());
    if (random_.uniform() < disturbed_) share += 0.1 + 0.4 * random_.uniform();
    share = std::min(share, 0.9);
    LaunchRecord record;
    record.step_seconds = {kTruth * std::exp(kSigma * random_.normal()) / (1 - share)};
    record.taken = TakenTime{.window_seconds = 1,
                             .run_delay_seconds = share,
                             .steal_seconds = {},
                             .throttled_seconds = {},
                             .cpu_mhz = {}};
    return record;
  }

  // As a sweep measures a cell: one launch more for each disturbed one, as many again at most.
  [[nodiscard]] std::vector<LaunchRecord> cell() {
    std::vector<LaunchRecord> launches;
    int wanted = kPlanned;
    while (static_cast<int>(launches.size()) < wanted) {
      launches.push_back(launch());
      const bool is_disturbed = !disturbances(launches.back()).empty();
      if (is_disturbed && wanted < 2 * kPlanned) ++wanted;
    }
    return launches;
  }

 private:
  stats::Simulated random_{7};
  double disturbed_;
};

std::vector<const LaunchRecord*> pointers(const std::vector<LaunchRecord>& launches) {
  std::vector<const LaunchRecord*> all;
  for (const LaunchRecord& record : launches) all.push_back(&record);
  return all;
}

// What becomes of many figures: their bias, coverage and width, on logs.
struct Quality {
  double bias = 0;
  double coverage = 0;
  double width = 0;

  void add(const std::vector<const LaunchRecord*>& launches) {
    std::vector<double> medians;
    for (const LaunchRecord* record : launches) medians.push_back(record->step_seconds.front());
    const stats::Estimate figure = stats::center_in_rounds(medians);
    bias += std::log(figure.center / kTruth) / kDocuments;
    coverage += figure.interval->holds(kTruth) ? 1.0 / kDocuments : 0;
    width += std::log(figure.interval->high / figure.interval->low) / kDocuments;
  }
};

struct Study {
  Quality first;    // of the planned launches, whatever took time from them
  Quality counted;  // of those that count

  explicit Study(double disturbed) {
    Machine machine(disturbed);
    for (int document = 0; document < kDocuments; ++document) {
      const std::vector<LaunchRecord> launches = machine.cell();
      std::vector<const LaunchRecord*> all = pointers(launches);
      counted.add(results::counted(all).launches);
      all.resize(kPlanned);
      first.add(all);
    }
    for (const auto& [name, quality] : {std::pair{"all", first}, {"counted", counted}}) {
      std::cout << disturbed << " disturbed, " << name << ": bias " << 100 * quality.bias
                << " %, coverage " << 100 * quality.coverage << " %, width " << 100 * quality.width
                << " %\n";
    }
  }
};

TEST(DisturbedLaunches, LeftOut_BiasNoFigure) {
  const Study study(0.2);
  EXPECT_LT(std::abs(study.counted.bias), 0.004);  // what is lost below the rule's share
  EXPECT_GE(study.counted.coverage, 0.94);
  EXPECT_GT(study.first.bias, 0.05);
  EXPECT_LT(study.counted.width, study.first.width / 4);
}

TEST(DisturbedLaunches, OnAQuietMachine_CostNothing) {
  const Study study(0);
  EXPECT_GE(study.counted.coverage, 0.94);
  EXPECT_NEAR(study.counted.width, study.first.width, 1e-3);
}

}  // namespace
}  // namespace tandem::results
