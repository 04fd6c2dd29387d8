// SPDX-License-Identifier: Apache-2.0
#include "reports/model/phases.h"

#include <gtest/gtest.h>

#include "common/stats/summary.h"
#include "reports/answer/report.h"
#include "tests/reports/cost_samples.h"

namespace tandem::reports {
namespace {

using results::LaunchRecord;

TEST(Phases, CriticalDeviceOfEachSample_IsShownWhereARecordHasIt) {
  Synthetic synthetic = ddp_and_independent();
  const LaunchRecord& record = synthetic.document().launches.front();
  EXPECT_EQ(critical_device(record), &record.critical);
}

TEST(Phases, OlderRecords_ShowTheRootOrTheSlowestOnAverage) {
  Synthetic synthetic;
  synthetic.add("ddp", 2, {0.02}).add("dp", 2, {0.02}).add("single", 1, {0.02});
  for (LaunchRecord& record : synthetic.document().launches) {
    record.phases = {device(0, {{"forward", 5}}), device(1, {{"forward", 6}})};
  }
  synthetic.document().launches[2].phases.pop_back();  // of the one device of `single`
  const std::vector<LaunchRecord>& launches = synthetic.document().launches;
  EXPECT_EQ(critical_device(launches[0])->device, 1);
  EXPECT_EQ(critical_device(launches[1])->device, 0);
  EXPECT_EQ(critical_device(launches[2])->device, 0);
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

std::string phases_method(Synthetic synthetic) {
  return method_lines(make_report(synthetic.document())).back();
}

TEST(Method, PhasesThatMayNotAddUp_AreNamed_WhereThereAreAny) {
  Synthetic synthetic = ddp_and_independent();
  EXPECT_FALSE(phases_method(synthetic).ends_with("need not add up exactly."));
  synthetic.document().launches.back().critical = {};
  EXPECT_TRUE(phases_method(synthetic).ends_with("need not add up exactly."));
}

}  // namespace
}  // namespace tandem::reports
