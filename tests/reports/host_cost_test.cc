// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "reports/answer/report.h"
#include "reports/tables/cells.h"
#include "reports/text/table.h"
#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

using ::testing::HasSubstr;

// As step_bench writes records: the mode, and the option that asked for it.
TextTable table_with(const std::string& second_mode) {
  Synthetic synthetic;
  synthetic.add("ddp", 2, {0.010, 0.010}).add("ddp", 2, {0.008, 0.008});
  auto& launches = synthetic.document().launches;
  for (std::size_t i = launches.size() - 2; i < launches.size(); ++i) {
    launches[i].mode = second_mode;
    launches[i].cell.options["free-running"] = "8";
  }
  return mode_table(make_report(synthetic.document()).summary);
}

TEST(HostCost, IsWhatFreeRunningStepsSaveAtTheSamePoint) {
  const TextTable table = table_with("free-running");
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0].back(), "20.0 %");
  EXPECT_THAT(table.rows[0][table.rows[0].size() - 3], HasSubstr("10.00 ms"));
}

TEST(HostCost, NeedsBothModes) { EXPECT_TRUE(table_with("synchronous").rows.empty()); }

}  // namespace
}  // namespace tandem::reports
