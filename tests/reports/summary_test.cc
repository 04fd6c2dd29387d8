// SPDX-License-Identifier: Apache-2.0
#include "reports/model/summary.h"

#include <gtest/gtest.h>

#include "reports/model/notes.h"
#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

using results::Status;

const CellSummary& cell(const Summary& summary, const std::string& strategy, int devices) {
  for (const CellSummary& found : summary.cells) {
    if (found.cell.strategy == strategy && found.cell.devices == devices) return found;
  }
  throw std::runtime_error("no cell " + strategy);
}

TEST(Summary, KnownMedians_GiveKnownRatios) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.08, 0.08}).add("dp", 2, {0.06, 0.06}).add("ddp", 2, {0.05, 0.05});
  const Summary summary = summarize(synthetic.document());
  EXPECT_NEAR(cell(summary, "dp", 2).speedup->center, 0.08 / 0.06, 1e-12);
  EXPECT_NEAR(cell(summary, "ddp", 2).efficiency()->center, 0.08 / 0.05 / 2, 1e-12);
  EXPECT_NEAR(cell(summary, "ddp", 2).throughput.center, 64 / 0.05, 1e-9);
  ASSERT_EQ(summary.comparisons.size(), 1U);
  EXPECT_NEAR(summary.comparisons[0].ddp_speed.center, 1.2, 1e-12);
  EXPECT_EQ(summary.comparisons[0].ddp_verdict, stats::Verdict::kFaster);
}

TEST(Summary, MedianIsOfLaunches_MeanOfTheirMeans) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.1, 0.1});
  synthetic.document().launches[0].step_seconds = {0.1, 0.1, 0.4};
  synthetic.document().launches[1].step_seconds = {0.1, 0.1, 0.1};
  const Summary summary = summarize(synthetic.document());
  EXPECT_NEAR(summary.cells[0].median_step.center, 0.1, 1e-12);
  EXPECT_NEAR(summary.cells[0].mean_step.center, 0.15, 1e-12);
  EXPECT_EQ(summary.cells[0].samples, 6);
}

TEST(Summary, WithoutSingle_ThereIsNoSpeedup) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06, 0.06});
  const Summary summary = summarize(synthetic.document());
  EXPECT_FALSE(summary.cells[0].speedup);
  EXPECT_FALSE(summary.cells[0].efficiency());
}

TEST(Summary, OtherBatches_AreNeverCompared) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06}, 64).add("ddp", 2, {0.05}, 128);
  EXPECT_TRUE(summarize(synthetic.document()).comparisons.empty());
}

TEST(Summary, Modes_AreNeverMixed) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06, 0.03});
  synthetic.document().launches[1].mode = "free-running";
  EXPECT_EQ(summarize(synthetic.document()).cells.size(), 2U);
}

TEST(Summary, FailedLaunchesBesideMeasuredOnes_AreCounted) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06, 0.06}).add_without_time("dp", 2, Status::kFailed, "rank lost");
  const Summary summary = summarize(synthetic.document());
  ASSERT_EQ(summary.cells.size(), 1U);
  EXPECT_EQ(summary.cells[0].launches, 2);
  EXPECT_EQ(summary.cells[0].failed_launches, 1);
  EXPECT_EQ(summary.cells[0].status, Status::kOk);
}

TEST(Summary, EfficiencyAboveOne_IsMarked_WhereTheWholeIntervalIs) {
  Synthetic scattered;  // centre above 100 %, interval around it
  scattered.add("single", 1, {0.10, 0.12}).add("ddp", 2, {0.05, 0.055});
  const Summary around = summarize(scattered.document());
  EXPECT_GT(cell(around, "ddp", 2).efficiency()->center, 1);
  EXPECT_FALSE(cell(around, "ddp", 2).efficiency_above_one());
  Synthetic clear;
  clear.add("single", 1, {0.120, 0.121, 0.122}).add("ddp", 2, {0.050, 0.0501, 0.0502});
  EXPECT_TRUE(cell(summarize(clear.document()), "ddp", 2).efficiency_above_one());
  Synthetic one_launch;
  one_launch.add("single", 1, {0.12}).add("ddp", 2, {0.05});
  const Summary single_launch = summarize(one_launch.document());
  EXPECT_FALSE(cell(single_launch, "ddp", 2).speedup->interval);
  EXPECT_FALSE(cell(single_launch, "ddp", 2).efficiency_above_one());
}

TEST(Summary, DevicesLeftWithoutASample_AreMarked) {
  Synthetic synthetic;
  synthetic.add("dp", 4, {0.06, 0.06, 0.06});
  synthetic.document().launches[1].devices_used = 3;
  synthetic.document().launches[2].devices_used = 4;
  const Summary summary = summarize(synthetic.document());
  EXPECT_EQ(marks_of(summary.cells[0]), std::vector<std::string>{"only 3 devices used"});
}

TEST(Summary, VariantsOfDp_AreNotComparedBesideDpItself) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06, 0.06}).add("dp", 2, {0.03, 0.03}).add("ddp", 2, {0.05, 0.05});
  for (const std::size_t kept : {2U, 3U}) {
    synthetic.document().launches[kept].cell.options["threads"] = "kept";
  }
  const Summary both = summarize(synthetic.document());
  ASSERT_EQ(both.comparisons.size(), 1U);
  EXPECT_TRUE(both.comparisons[0].dp->cell.options.empty());
  auto& launches = synthetic.document().launches;
  launches.erase(launches.begin(), launches.begin() + 2);
  EXPECT_EQ(summarize(synthetic.document()).comparisons.size(), 1U);
}

TEST(Summary, Phases_AreThoseOfTheCriticalDevice) {
  Synthetic synthetic;
  synthetic.add("ddp", 2, {0.05});
  results::LaunchRecord& record = synthetic.document().launches[0];
  record.phases = {{.device = 0, .mean_seconds = {{"forward", 0.01}}, .span_seconds = 0.04},
                   {.device = 1, .mean_seconds = {{"forward", 0.02}}, .span_seconds = 0.045}};
  record.critical = record.phases[1];
  const Summary summary = summarize(synthetic.document());
  EXPECT_DOUBLE_EQ(cell(summary, "ddp", 2).phases[0].seconds, 0.02);
}

}  // namespace
}  // namespace tandem::reports
