// SPDX-License-Identifier: Apache-2.0
#include "reports/model/phases.h"

#include <gtest/gtest.h>

#include "common/stats/summary.h"
#include "tests/reports/cost_samples.h"

namespace tandem::reports {
namespace {

using results::LaunchRecord;

TEST(Phases, CriticalDeviceOfEachSample_IsShownWhereARecordHasIt) {
  Synthetic synthetic = ddp_and_independent();
  const LaunchRecord& record = synthetic.document().launches.front();
  EXPECT_EQ(critical_device(record), &record.critical);
}

TEST(Phases, NoneTimed_IsNoDevice) {
  EXPECT_EQ(critical_device(LaunchRecord{}), nullptr);
  EXPECT_FALSE(have_phases({}));
}

TEST(Phases, WithTheRemainder_TheyAddUpToTheMeanStep) {
  Synthetic synthetic = ddp_and_independent();
  for (LaunchRecord& record : synthetic.document().launches) {
    record.remainder_seconds = stats::mean(record.step_seconds) - record.critical.span_seconds;
  }
  const Summary summary = summarize(synthetic.document());
  for (const CellSummary& cell : summary.cells) {
    double sum = cell.remainder_seconds;
    for (const PhaseMean& phase : cell.phases) sum += phase.seconds;
    EXPECT_NEAR(sum, cell.mean_step.center, 1e-12) << cell.cell.name();
  }
}

}  // namespace
}  // namespace tandem::reports
