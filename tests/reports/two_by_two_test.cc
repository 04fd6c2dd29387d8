// SPDX-License-Identifier: Apache-2.0
#include "reports/two_by_two.h"

#include <gtest/gtest.h>

#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

Synthetic corners() {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.08, 0.08}).add("dp-allreduce", 2, {0.04, 0.04});
  synthetic.add("ddp-replicate", 2, {0.06, 0.06}).add("ddp", 2, {0.02, 0.02});
  return synthetic;
}

TEST(TwoByTwo, FourCorners_GiveBothChoices) {
  Synthetic synthetic = corners();
  const Table table = two_by_two_table(summarize(synthetic.document()));
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0][3], "threads");
  EXPECT_EQ(table.rows[0][6], "2.00x [2.00 .. 2.00]");
  EXPECT_EQ(table.rows[1][6], "3.00x [3.00 .. 3.00]");
  EXPECT_EQ(table.rows[2][4], "1.33x [1.33 .. 1.33]");
  EXPECT_EQ(table.rows[2][5], "2.00x [2.00 .. 2.00]");
}

TEST(TwoByTwo, MissingCorner_OrOtherOptions_GiveNoTable) {
  Synthetic synthetic = corners();
  synthetic.document().launches.back().cell.options["grads"] = "views";
  synthetic.document().launches[6].cell.options["grads"] = "views";
  EXPECT_TRUE(two_by_two_table(summarize(synthetic.document())).rows.empty());
  Synthetic three;
  three.add("dp", 2, {0.08}).add("dp-allreduce", 2, {0.04}).add("ddp", 2, {0.02});
  EXPECT_TRUE(two_by_two_table(summarize(three.document())).rows.empty());
}

TEST(TwoByTwo, OnALink_SaysSoInEveryRow) {
  Synthetic synthetic = corners();
  for (auto& record : synthetic.document().launches) record.cell.options["link"] = "20us:1GBps";
  const Table table = two_by_two_table(summarize(synthetic.document()));
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0][3], "threads (modelled: link 20us:1GBps)");
}

TEST(TwoByTwo, OneDevice_IsNoComparison) {
  Synthetic synthetic = corners();
  for (auto& record : synthetic.document().launches) record.cell.devices = 1;
  EXPECT_TRUE(two_by_two_table(summarize(synthetic.document())).rows.empty());
}

}  // namespace
}  // namespace tandem::reports
