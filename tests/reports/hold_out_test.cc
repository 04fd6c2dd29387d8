// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reports/render/formats.h"
#include "tests/reports/whole_text.h"

namespace tandem::reports {
namespace {

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

HeldOutCell held_out(const results::Cell& cell, double measured, double projected) {
  return {.cell = cell, .measured = estimate(measured), .projected_seconds = projected};
}

HeldOutCell of_error(double error, const std::string& model = "a") {
  return held_out(cell_of("dp", model), 1, 1 + error);
}

TEST(HoldOut, AnError_IsRelativeToTheMeasuredStep) {
  EXPECT_DOUBLE_EQ(held_out(cell_of("dp", "a"), 2, 1.5).error(), 0.25);
  EXPECT_DOUBLE_EQ(held_out(cell_of("dp", "a"), 2, 2.5).error(), 0.25);
}

TEST(HoldOut, Figures_AreTheMeanAndTheLargestError) {
  const auto figures = error_figures({of_error(0.01), of_error(-0.02), of_error(0.06)});
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->cells, 3);
  EXPECT_NEAR(figures->mean, 0.03, 1e-12);
  EXPECT_NEAR(figures->most, 0.06, 1e-12);
  EXPECT_FALSE(error_figures({}));
}

// A further error stays below the 9th of 9 errors in 9 of 10 draws, and below the 18th of 19.
TEST(HoldOut, TheHalfWidth_IsTheErrorThatNineInTenStayBelow) {
  std::vector<HeldOutCell> rows;
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

TEST(HoldOut, AProjectedInterval_WidensWithEachDoublingBeyondTheMeasured) {
  const double width = std::log(1.1);
  EXPECT_NEAR(projected_interval(2, width, 2, 2).high, 2.2, 1e-12);
  EXPECT_NEAR(projected_interval(2, width, 1, 2).high, 2.2, 1e-12);
  EXPECT_NEAR(projected_interval(2, width, 4, 2).high, 2 * 1.21, 1e-12);
  EXPECT_NEAR(projected_interval(2, width, 8, 2).low, 2 / 1.331, 1e-12);
}

TEST(Projection, ItsFirstLine_SaysWhatStandsBehindIt) {
  Projection projection{.source = "out/quick-1"};
  EXPECT_THAT(whole_text(projection), StartsWith("Projected: no measurement stands behind this."));
  projection.held_out = {of_error(0.02), of_error(0.04)};
  EXPECT_THAT(whole_text(projection),
              StartsWith("Projected, not measured.\nOn 2 cells measured in out/quick-1 the method "
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

}  // namespace
}  // namespace tandem::reports
