// SPDX-License-Identifier: Apache-2.0
#include "reports/model/hold_out.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reports/model/projection.h"
#include "reports/render/formats.h"

namespace tandem::reports {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

results::Cell cell_of(const std::string& strategy, const std::string& model, int devices = 2) {
  results::Cell cell;
  cell.strategy = strategy;
  cell.launch = "threads";
  cell.model = model;
  cell.backend = "host";
  cell.devices = devices;
  cell.global_batch = 64;
  return cell;
}

stats::Estimate estimate(double center) { return {.center = center, .interval = {}}; }

HeldOut held_out(const results::Cell& cell, double measured, double predicted) {
  HeldOut row{.cell = cell, .measured = estimate(measured)};
  row.seconds[0] = predicted;
  return row;
}

HeldOut of_error(double error, const std::string& model = "a") {
  return held_out(cell_of("dp", model), 1, 1 + error);
}

TEST(HoldOut, AnError_IsRelativeToTheMeasuredStep) {
  EXPECT_DOUBLE_EQ(error_of(held_out(cell_of("dp", "a"), 2, 1.5), Prediction::kSimulated), 0.25);
  EXPECT_DOUBLE_EQ(error_of(held_out(cell_of("dp", "a"), 2, 2.5), Prediction::kSimulated), 0.25);
}

TEST(HoldOut, BeyondTheInterval_IsOnlyWhatTheMeasurementDoesNotExplain) {
  HeldOut row = held_out(cell_of("dp", "a"), 2, 2.2);
  row.measured.interval = stats::Interval{1.9, 2.1};
  EXPECT_NEAR(error_beyond_interval(row, Prediction::kSimulated), 0.05, 1e-12);
  row.seconds[0] = 1.95;
  EXPECT_EQ(error_beyond_interval(row, Prediction::kSimulated), 0);
}

TEST(HoldOut, Figures_AreOfTheCellsThatTheMethodPredicts) {
  std::vector<HeldOut> rows{of_error(0.01), of_error(-0.02), of_error(0.06)};
  rows[0].seconds[1] = 2;
  const auto simulated = error_figures(rows, Prediction::kSimulated);
  ASSERT_TRUE(simulated);
  EXPECT_EQ(simulated->cells, 3);
  EXPECT_NEAR(simulated->mean, 0.03, 1e-12);
  EXPECT_NEAR(simulated->p90, 0.06, 1e-12);
  EXPECT_NEAR(simulated->most, 0.06, 1e-12);
  EXPECT_EQ(error_figures(rows, Prediction::kPerfectScaling)->cells, 1);
  EXPECT_FALSE(error_figures(rows, Prediction::kNoOverlap));
}

// A further error stays below the 9th of 9 errors in 9 of 10 draws, and below the 18th of 19.
TEST(HoldOut, TheHalfWidth_IsTheErrorThatNineInTenStayBelow) {
  std::vector<HeldOut> rows;
  for (int i = 1; i <= 9; ++i) rows.push_back(of_error(0.01 * i));
  EXPECT_NEAR(*half_width(rows), std::log(1.09), 1e-12);
  for (int i = 10; i <= 19; ++i) rows.push_back(of_error(0.01 * i));
  EXPECT_NEAR(*half_width(rows), std::log(1.18), 1e-12);
}

TEST(HoldOut, FewOrTinyErrors_EarnNoNarrowInterval) {
  EXPECT_FALSE(half_width({}));
  EXPECT_DOUBLE_EQ(*half_width({of_error(0.001)}), kLeastHalfWidth);
  EXPECT_NEAR(*half_width({of_error(0.001), of_error(0.2)}), std::log(1.2), 1e-12);
}

// The model that errs by 20 % has no part in its own interval.
TEST(HoldOut, Coverage_IsJudgedByOtherGroups) {
  const std::vector<HeldOut> rows{of_error(0.01, "a"), of_error(0.02, "a"), of_error(0.2, "b")};
  const std::vector<FoldCoverage> folds = nested_coverage(rows);
  ASSERT_EQ(folds.size(), 1U);  // strategy, devices and batch are the same everywhere
  EXPECT_EQ(folds[0].fold, Fold::kModel);
  EXPECT_EQ(folds[0].groups, 2);
  EXPECT_EQ(folds[0].cells, 3);
  EXPECT_EQ(folds[0].inside, 2);
}

TEST(HoldOut, AProjectedInterval_WidensWithEachDoublingBeyondTheMeasured) {
  const double width = std::log(1.1);
  EXPECT_NEAR(projected_interval(2, width, 2, 2).high, 2.2, 1e-12);
  EXPECT_NEAR(projected_interval(2, width, 1, 2).high, 2.2, 1e-12);
  EXPECT_NEAR(projected_interval(2, width, 4, 2).high, 2 * 1.21, 1e-12);
  EXPECT_NEAR(projected_interval(2, width, 8, 2).low, 2 / 1.331, 1e-12);
}

TEST(ClosedForms, WithoutOverlap_TransfersComeOnTop) {
  const KnownOfCell known{.one_device_seconds = 1,
                          .parameter_bytes = 8e9,
                          .link = {.latency_seconds = 0.5, .bytes_per_second = 1e9}};
  // A ring of 4: 6 steps of 2 GB; through one port: 6 copies of 8 GB.
  EXPECT_DOUBLE_EQ(without_overlap(cell_of("ddp", "a", 4), known), 1 + 6 * 2.5);
  EXPECT_DOUBLE_EQ(without_overlap(cell_of("dp", "a", 4), known), 1 + 6 * 8.5);
  EXPECT_DOUBLE_EQ(without_overlap(cell_of("independent", "a", 4), known), 1);
  EXPECT_DOUBLE_EQ(without_overlap(cell_of("dp", "a", 1), known), 1);
  EXPECT_EQ(without_overlap(cell_of("dp", "a", 4), {.one_device_seconds = 1}), 0);
}

TEST(ClosedForms, OneCostPerCall_IsFittedToOtherCellsOfTheStrategy) {
  std::vector<HeldOut> rows{held_out(cell_of("dp", "a"), 1.2, 1),
                            held_out(cell_of("dp", "b"), 5, 1),
                            held_out(cell_of("ddp", "a"), 9, 1)};
  const std::vector<KnownOfCell> known{{.one_device_seconds = 1, .calls = 10},
                                       {.one_device_seconds = 2, .calls = 30},
                                       {.one_device_seconds = 1, .calls = 10}};
  add_closed_forms(rows, known);
  EXPECT_DOUBLE_EQ(rows[0].by(Prediction::kCostPerCall), 1 + 10 * 0.1);  // b: 3 s for 30 calls
  EXPECT_DOUBLE_EQ(rows[1].by(Prediction::kCostPerCall), 2 + 30 * 0.02);
  EXPECT_EQ(rows[2].by(Prediction::kCostPerCall), 0);  // there is no other ddp cell
  EXPECT_DOUBLE_EQ(rows[2].by(Prediction::kPerfectScaling), 1);
}

// dp takes 2 s and ddp 1 s; the prediction has it the other way round.
TEST(Projection, Signs_CountResolvedDifferencesAlone) {
  CellSummary dp;
  dp.cell = cell_of("dp", "a");
  CellSummary ddp;
  ddp.cell = cell_of("ddp", "a");
  StrategyPair pair{
      .dp = &dp, .ddp = &ddp, .ddp_speed = estimate(2), .ddp_verdict = stats::Verdict::kFaster};
  const std::vector<HeldOut> right{held_out(dp.cell, 2, 3), held_out(ddp.cell, 1, 2)};
  const std::vector<HeldOut> wrong{held_out(dp.cell, 2, 1), held_out(ddp.cell, 1, 2)};
  EXPECT_EQ(signs_told(right, {pair}).right, 1);
  EXPECT_EQ(signs_told(wrong, {pair}).right, 0);
  EXPECT_EQ(signs_told(wrong, {pair}).pairs, 1);
  pair.ddp_verdict = stats::Verdict::kNotResolved;
  EXPECT_EQ(signs_told(right, {pair}).pairs, 0);
  pair.ddp_verdict = stats::Verdict::kFaster;
  pair.ddp_speed.center = 1.04;
  EXPECT_EQ(signs_told(right, {pair}).pairs, 0);
}

TEST(Projection, ItsFirstLine_SaysWhatStandsBehindIt) {
  Projection projection{.source = "out/quick-1"};
  EXPECT_THAT(to_terminal(projection), StartsWith("Projected: no measurement stands behind this."));
  projection.held_out = {of_error(0.02), of_error(0.04)};
  EXPECT_THAT(to_terminal(projection),
              StartsWith("Projected, not measured. On 2 cells measured in out/quick-1 the method "
                         "errs by 3.0 % on average, by 4.0 % at most;"));
}

TEST(Projection, WithoutHoldOuts_FiguresHaveNoIntervals) {
  Projection projection{.source = "out/a", .cells = {{.cell = cell_of("ddp", "a"), .seconds = 1}}};
  add_intervals(projection);
  EXPECT_FALSE(projection.cells[0].interval);
  projection.held_out = {of_error(0.1)};
  add_intervals(projection);
  ASSERT_TRUE(projection.cells[0].interval);
  EXPECT_NEAR(projection.cells[0].interval->high, 1.1, 1e-12);
}

TEST(Projection, AMethodThatIsAsGood_IsNamed) {
  Projection projection{.source = "out/a", .held_out = {of_error(0.02)}};
  projection.held_out[0].seconds[1] = 1.01;
  EXPECT_THAT(to_terminal(projection), HasSubstr("As good or better on average here: perfect"));
  projection.held_out[0].seconds[1] = 1.5;
  EXPECT_THAT(to_terminal(projection), Not(HasSubstr("As good or better")));
}

TEST(Projection, ThePeakOfMemory_ErrsByTheWorstCell) {
  EXPECT_EQ(worst_memory({}), nullptr);
  const std::vector<HeldOutMemory> rows{{.cell = {}, .measured = 100, .simulated = 98},
                                        {.cell = {}, .measured = 100, .simulated = 104}};
  ASSERT_EQ(worst_memory(rows), &rows[1]);
  EXPECT_NEAR(memory_error(rows[1]), 0.04, 1e-12);
}

}  // namespace
}  // namespace tandem::reports
