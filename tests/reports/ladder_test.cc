// SPDX-License-Identifier: Apache-2.0
#include "reports/model/ladder.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/reports/ladder_samples.h"

namespace tandem::reports {
namespace {

results::Cell cell_of(Rung rung, const GapQuestion& question) {
  for (const RungCell& cell : ladder_cells(question)) {
    if (cell.rung == rung) return cell.cell;
  }
  throw std::runtime_error("no such rung");
}

TEST(Ladder, BeginsWithItsRungsInOrder_AndEveryCellIsAnother) {
  const std::vector<RungCell> cells = ladder_cells(sample_question());
  std::set<std::string> names;
  for (const RungCell& cell : cells) names.insert(cell.cell.name());
  EXPECT_EQ(cells.size(), 20U);
  EXPECT_EQ(names.size(), cells.size());
  for (std::size_t i = 0; i < kLadder.size(); ++i) EXPECT_EQ(cells[i].rung, kLadder[i]);
}

TEST(Ladder, EndsAreTorchsDp_AndDdpWithViews) {
  EXPECT_EQ(cell_of(Rung::kDp, sample_question()).name(),
            "dp/threads/mlp-small/devices:2/batch:64");
  EXPECT_EQ(cell_of(Rung::kProcesses, sample_question()).name(),
            "ddp/processes/mlp-small/devices:2/batch:64/grads:views");
  EXPECT_EQ(cell_of(Rung::kIndependent, sample_question()).name(),
            "independent/processes/mlp-small/devices:2/batch:64");
}

TEST(Ladder, Input_IsOnAllRungsButTheScatteredOnes) {
  GapQuestion question = sample_question();
  question.input = "device";
  for (const RungCell& rung : ladder_cells(question)) {
    EXPECT_NE(has_option(rung.cell, "input", "device"), has_option(rung.cell, "input", "scatter"))
        << rung.label;
  }
  EXPECT_TRUE(has_option(cell_of(Rung::kAllReduce, question), "input", "scatter"));
}

TEST(Ladder, DispatchCost_AddsCells_AndLeavesTheOthersAlone) {
  GapQuestion question = sample_question();
  question.dispatch_cost = "8us";
  EXPECT_EQ(ladder_cells(question).size(), 22U);
  question.interpreter_lock = true;
  EXPECT_EQ(ladder_cells(question).size(), 23U);
  EXPECT_TRUE(cell_of(Rung::kDp, question).options.empty());
  EXPECT_TRUE(has_option(cell_of(Rung::kDpLock, question), "interpreter-lock", "on"));
}

}  // namespace
}  // namespace tandem::reports
