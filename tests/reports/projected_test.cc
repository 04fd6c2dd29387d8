// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "reports/answer/choices.h"
#include "reports/answer/report.h"
#include "reports/model/projection.h"
#include "reports/model/subject.h"
#include "reports/render/formats.h"
#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

using ::testing::HasSubstr;

// A document of a projection onto described hardware: the interpreter's lock is dp's alone.
results::Document projected(double dp, double ddp) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.04}, 32).add("dp", 2, {dp}).add("ddp", 2, {ddp});
  results::Document document = synthetic.document();
  for (results::LaunchRecord& record : document.launches) {
    record.cell.backend = results::kSimulated;
    record.cell.options = {{"dispatch-cost", "call:8us,gather:9us"}, {"hardware", "dgx-a100#0"}};
    if (record.cell.strategy == "dp") record.cell.options["interpreter-lock"] = "on";
  }
  document.sweep.context.custom = {{kStanding, "Projected, not measured. No system like yours"},
                                   {kHalfWidths, "dp:0.3:2,ddp:0.4:2"}};
  return document;
}

TEST(Projected, DpWithTheLockIsComparedWithDdpThatHasNone) {
  const Report report = make_report(projected(0.12, 0.05));
  ASSERT_EQ(report.summary.comparisons.size(), 1);
  const StrategyPair& pair = report.summary.comparisons.front();
  EXPECT_NEAR(pair.ddp_speed.center, 2.4, 1e-9);
  ASSERT_TRUE(pair.ddp_speed.interval);
  EXPECT_NEAR(pair.ddp_speed.interval->low, 2.4 / std::exp(0.5), 1e-9);  // 3, 4, 5
  EXPECT_EQ(pair.ddp_verdict, stats::Verdict::kFaster);
  // The page's first line names the machine.
  EXPECT_TRUE(place_of(report.summary, pair).ends_with(", batch 64, 2 devices"))
      << place_of(report.summary, pair);
}

TEST(Projected, OneDeviceIsInAsManyMicroBatches) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.05}, 32).add("single", 1, {0.04}, 32);
  synthetic.add("dp", 2, {0.12}).add("ddp", 2, {0.06});
  results::Document document = synthetic.document();
  for (const std::size_t i : {0, 3}) document.launches[i].cell.options["accumulate"] = "4";
  const Report report = make_report(std::move(document));
  EXPECT_TRUE(report.summary.comparisons.empty()) << "dp in one piece beside ddp in four";
  for (const CellSummary& cell : report.summary.cells) {
    const CellSummary* const one = baseline_of(cell, 32, report.summary.cells);
    ASSERT_NE(one, nullptr);
    EXPECT_EQ(one->cell.option("accumulate"), cell.cell.option("accumulate"));
  }
}

TEST(Projected, ADifferenceWithinTheErrorsIsNotResolved) {
  const Report report = make_report(projected(0.07, 0.05));
  ASSERT_EQ(report.summary.comparisons.size(), 1);
  EXPECT_EQ(report.summary.comparisons.front().ddp_verdict, stats::Verdict::kNotResolved);
}

TEST(Projected, IntervalsGrowWithEachDoublingBeyondThePublishedSteps) {
  results::Document document = projected(0.12, 0.05);
  document.sweep.context.custom[kHalfWidths] = "dp:0.3:2,ddp:0.1:1:0,ddp:0.4:1:1,ddp:9:1:2";
  const Report report = make_report(std::move(document));
  std::map<std::string, double> widths;
  for (const CellSummary& cell : report.summary.cells) {
    widths[cell.cell.strategy] = cell.half_width.value_or(0);
    EXPECT_EQ(cell.median_step.interval.has_value(), cell.cell.devices > 1) << cell.cell.name();
  }
  EXPECT_EQ(widths.at("single"), 0);
  EXPECT_NEAR(widths.at("dp"), 0.3, 1e-9);
  EXPECT_NEAR(widths.at("ddp"), 0.8, 1e-9);
}

TEST(Projected, ErrorsOfLikeSystemsAndOfOthersAreToldApart) {
  Decisions decisions{.gpu = "H100 SXM5", .precision = "tf32"};
  decisions.standing = {
      {.strategy = "dp", .systems = 4, .steps = 323, .mean = 0.105, .most = 0.54},
      {.strategy = "ddp", .is_like = true, .systems = 1, .steps = 3, .mean = 0.059, .most = 0.073}};
  const std::string words = standing_of(decisions);
  EXPECT_THAT(words, HasSubstr("systems like this (H100 SXM5)"));
  EXPECT_THAT(
      words,
      HasSubstr(
          "errs by 5.9 % on average, by 7 % at most for ddp (1 system, 3 steps, too few for 90 %"));
  EXPECT_THAT(words, HasSubstr("on others it errs by 10.5 % on average, by 54 % at most for dp"));
  EXPECT_TRUE(words.starts_with("Projected, not measured, in tf32. ")) << words;
  EXPECT_TRUE(words.ends_with(". The other intervals hold nine in ten such steps.")) << words;
  decisions.options = ", accumulate=4";
  decisions.standing.back().has_rows = false;
  const std::string none = standing_of(decisions);
  EXPECT_EQ(none.find("for ddp"), std::string::npos) << none;
  EXPECT_TRUE(
      none.ends_with(" No published step of ddp has accumulate=4: its interval is the widest that "
                     "steps without it have. The other intervals hold nine in ten such steps."))
      << none;
  decisions.options.clear();
  decisions.standing.pop_back();
  EXPECT_THAT(standing_of(decisions),
              HasSubstr("No system like yours (H100 SXM5) was ever compared"));
}

ProjectedCell step_of(const char* strategy, int devices, std::int64_t batch, double seconds) {
  ProjectedCell step;
  step.cell.strategy = strategy;
  step.cell.devices = devices;
  step.cell.global_batch = batch;
  step.seconds = seconds;
  return step;
}

TEST(Projected, ABoundIsInAsManyMicroBatches) {
  Projection projection;
  projection.cells = {step_of("independent", 2, 8, 0.1), step_of("independent", 2, 8, 0.2),
                      step_of("dp", 2, 8, 0.3), step_of("ddp", 2, 8, 0.3)};
  for (const std::size_t i : {1, 3}) projection.cells[i].cell.options["accumulate"] = "4";
  const auto beside = [&](std::size_t i, const char* strategy) {
    return cell_beside(projection.cells[i], strategy, projection.cells);
  };
  EXPECT_EQ(beside(2, "independent"), &projection.cells[0]);
  EXPECT_EQ(beside(3, "independent"), &projection.cells[1]);
  EXPECT_EQ(beside(3, "dp"), nullptr);
}

TEST(Projected, IntervalsEndAtTheBound_AndHoldOnSeveralNodesWhatErrsThere) {
  Projection projection;
  projection.decisions.emplace();
  projection.decisions->standing = {
      {.strategy = "ddp", .half_width = 0.1, .most_devices = 8},
      {.strategy = "ddp", .beyond = 8, .half_width = 0.3, .most_devices = 64},
      {.strategy = "single", .half_width = 0.4, .most_devices = 1}};
  projection.cells = {step_of("ddp", 8, 8, 0.105), step_of("independent", 8, 8, 0.1),
                      step_of("ddp", 16, 16, 0.2)};
  add_published_intervals(projection);
  ASSERT_TRUE(projection.cells[0].interval && projection.cells[2].interval);
  EXPECT_EQ(projection.cells[0].interval->low, 0.1);
  EXPECT_NEAR(projection.cells[0].interval->high, 0.105 * std::exp(0.1), 1e-12);
  EXPECT_NEAR(projection.cells[2].interval->low, 0.2 / std::exp(0.3), 1e-12);
  EXPECT_NEAR(step_of(projection.cells[2], projection).interval->high, 0.2 * std::exp(0.5), 1e-12);
  EXPECT_NEAR(step_of(projection.cells[1], projection).interval->low, 0.1 / std::exp(0.4), 1e-12);
}

TEST(Projected, SpeedOverOneDevice_IsOfSamplesPerSecondOnAShareOrOnTheWholeBatch) {
  Projection projection;
  projection.decisions.emplace();
  projection.cells = {step_of("single", 1, 8, 0.1), step_of("single", 1, 32, 0.3),
                      step_of("ddp", 4, 32, 0.2)};
  ProjectedCell& ddp = projection.cells.back();
  ddp.interval = stats::Interval{0.1, 0.4};
  const auto of_share = speed_over_one_device(ddp, projection);
  ASSERT_TRUE(of_share && of_share->interval);
  EXPECT_NEAR(of_share->center, 2.0, 1e-12);
  EXPECT_NEAR(of_share->interval->low, 1.0, 1e-12);
  EXPECT_NEAR(of_share->interval->high, 4.0, 1e-12);
  projection.decisions->has_whole_batches = true;
  EXPECT_NEAR(speed_over_one_device(ddp, projection)->center, 1.5, 1e-12);
  projection.cells.erase(projection.cells.begin() + 1);
  EXPECT_FALSE(speed_over_one_device(projection.cells.back(), projection));
}

TEST(Projected, WhatIsNotProjectedIsTold_ByWhatFits) {
  const Projection projection{.source = "", .decisions = Decisions{.gpu = ""}};
  const NotProjected large{step_of("dp", 2, 64, 0).cell,
                           "out of memory: 2 GiB asked; the largest batch that fits is 10, 5 on a "
                           "device"};
  EXPECT_EQ(not_projected_line(large, projection),
            "dp on 2 devices, 32 samples each: does not fit; the largest batch that fits is 10, 5 "
            "on a device");
  const NotProjected other{step_of("dp", 2, 64, 0).cell, "it crashed"};
  EXPECT_EQ(not_projected_line(other, projection), "dp on 2 devices, 32 samples each: it crashed");
}

}  // namespace
}  // namespace tandem::reports
