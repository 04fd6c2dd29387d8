// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "reports/model/communication.h"
#include "reports/tables/ddp.h"
#include "reports/text/table.h"
#include "tests/reports/cost_samples.h"

namespace tandem::reports {
namespace {

using results::LaunchRecord;
using results::Status;

double sum_ms(const OwnCosts& parts) {
  return 1e3 * (parts.exposed_transfer.center + parts.skew.center + parts.contention.center +
                parts.bucket_copies.center + parts.rest.center);
}

std::vector<LaunchRecord>& records_of(Synthetic& synthetic) {
  return synthetic.document().launches;
}

std::size_t count_of_costs(Synthetic& synthetic) {
  const Summary summary = summarize(synthetic.document());
  return ddp_costs(summary).size();
}

TEST(DdpCost, MissingTime_IsSplitIntoPartsThatSumToIt) {
  Synthetic synthetic = ddp_and_independent();
  const Summary summary = summarize(synthetic.document());
  const std::vector<DdpCost> costs = ddp_costs(summary);
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_NEAR(costs[0].share.center, 0.75, 1e-12);
  EXPECT_NEAR(costs[0].missing.center, 5e-3, 1e-12);
  ASSERT_TRUE(costs[0].parts);
  EXPECT_NEAR(sum_ms(*costs[0].parts), 5, 1e-9);
}

// By means over the launch no rank is late; by samples one always is.
TEST(DdpCost, RanksThatTakeTurnsAtBeingLate_AreSkew) {
  Synthetic synthetic = ddp_and_independent();
  const Summary summary = summarize(synthetic.document());
  const DdpCost cost = ddp_costs(summary).at(0);
  EXPECT_NEAR(cost.parts->exposed_transfer.center, 2e-3, 1e-12);
  EXPECT_NEAR(cost.parts->skew.center, 0, 1e-12);  // both strategies have 2 ms of it
  EXPECT_NEAR(cost.parts->contention.center, 3e-3, 1e-12);
  EXPECT_NEAR(cost.parts->rest.center, 3e-3 - 3e-3, 1e-12);
  for (LaunchRecord& record : records_of(synthetic)) {
    if (record.cell.strategy == "ddp") record.critical.mean_seconds["backward"] += 1e-3;
  }
  const Summary later = summarize(synthetic.document());
  EXPECT_NEAR(ddp_costs(later).at(0).parts->skew.center, 1e-3, 1e-12);
}

TEST(DdpCost, NothingExposedInAnySample_IsNoTransfer_WhateverTheMeansOfRanks) {
  Synthetic synthetic = ddp_and_independent();
  for (LaunchRecord& record : records_of(synthetic)) record.least_exposed_seconds = 0;
  const Summary summary = summarize(synthetic.document());
  EXPECT_EQ(ddp_costs(summary).at(0).parts->exposed_transfer.center, 0);
}

TEST(DdpCost, WithoutPhases_IsAShareWithoutParts) {
  Synthetic synthetic = ddp_and_independent();
  for (LaunchRecord& record : records_of(synthetic)) {
    record.phases.clear();
    record.critical = {};
  }
  const Summary summary = summarize(synthetic.document());
  EXPECT_FALSE(ddp_costs(summary).at(0).parts);
  const TextTable table = ddp_cost_table(summary);
  EXPECT_EQ(table.rows.at(0)[7], "-");
  EXPECT_EQ(table.rows.at(0).back(), "no parts: phases were not timed");
}

TEST(DdpCost, Row_HoldsShareMissingTimeAndMarksWhatIsNotResolved) {
  Synthetic synthetic = ddp_and_independent(0.0001);
  const TextTable table = ddp_cost_table(summarize(synthetic.document()));
  ASSERT_EQ(table.rows.size(), 1U);
  const std::vector<std::string>& row = table.rows[0];
  ASSERT_EQ(row.size(), table.columns.size());
  EXPECT_TRUE(row[5].starts_with("0.75x [0.7")) << row[5];
  EXPECT_TRUE(row[6].starts_with("5.000 [4.")) << row[6];
  EXPECT_FALSE(row[6].ends_with("~"));
  EXPECT_EQ(row[7], "2.000 [2.000 .. 2.000]");
  EXPECT_TRUE(row[11].ends_with(" ~")) << row[11];  // the rest, 0
}

TEST(DdpCost, WhereThereIsLittleWidth_HasCentresOfTheSameFigures) {
  Synthetic synthetic = ddp_and_independent(0.0001);
  const TextTable table = narrow(ddp_cost_table(summarize(synthetic.document())));
  ASSERT_EQ(table.rows.size(), 1U);
  ASSERT_EQ(table.rows[0].size(), table.columns.size());
  EXPECT_EQ(table.rows[0][5], "5.000");
  EXPECT_EQ(table.rows[0][6], "2.000");
}

TEST(DdpCost, PartThatNoLaunchHas_IsZero_AndNoOpenQuestion) {
  Synthetic synthetic = ddp_and_independent(0.0001);
  const TextTable table = ddp_cost_table(summarize(synthetic.document()));
  EXPECT_EQ(table.rows.at(0)[10], "0.000 [0.000 .. 0.000]");  // there are no bucket copies
}

TEST(DdpCost, OneLaunch_ResolvesNothing) {
  Synthetic synthetic = ddp_and_independent();
  records_of(synthetic).erase(records_of(synthetic).begin() + 1, records_of(synthetic).begin() + 3);
  const TextTable table = ddp_cost_table(summarize(synthetic.document()));
  EXPECT_EQ(table.rows.at(0)[6], "5.000 ~");
}

TEST(DdpCost, OtherPoints_AreNoMeasureOfIt) {
  const std::vector<void (*)(results::Cell&)> changes{
      [](results::Cell& cell) { cell.launch = "threads"; },
      [](results::Cell& cell) { cell.model = "mlp-base"; },
      [](results::Cell& cell) { cell.global_batch = 128; },
      [](results::Cell& cell) { cell.devices = 4; },
      [](results::Cell& cell) { cell.backend = "cuda"; },
      [](results::Cell& cell) { cell.options["dispatch-cost"] = "8us"; },
      [](results::Cell& cell) { cell.options["input"] = "device"; },
      [](results::Cell& cell) { cell.options["accumulate"] = "4"; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Synthetic synthetic = ddp_and_independent();
    for (LaunchRecord& record : records_of(synthetic)) {
      if (record.cell.strategy == "independent") changes[i](record.cell);
    }
    EXPECT_EQ(count_of_costs(synthetic), 0U) << "change " << i;
  }
}

TEST(DdpCost, FreeRunning_IsAnotherQuantity) {
  Synthetic synthetic = ddp_and_independent();
  for (std::size_t i = 3; i < 6; ++i) records_of(synthetic)[i].mode = "free-running";
  EXPECT_EQ(count_of_costs(synthetic), 0U);
}

TEST(DdpCost, FailedOrAbsentIndependent_GivesNoRow) {
  Synthetic synthetic = ddp_and_independent();
  for (std::size_t i = 3; i < 6; ++i) records_of(synthetic)[i].status = Status::kFailed;
  EXPECT_EQ(count_of_costs(synthetic), 0U);
  records_of(synthetic).resize(3);
  EXPECT_EQ(count_of_costs(synthetic), 0U);
}

TEST(DdpCost, EachVariantOfDdp_HasARow_WithItsMark) {
  Synthetic synthetic = ddp_and_independent();
  const std::vector<LaunchRecord> plain(records_of(synthetic).begin(),
                                        records_of(synthetic).begin() + 3);
  for (LaunchRecord record : plain) {
    record.cell.options["grads"] = "views";
    records_of(synthetic).push_back(record);
  }
  for (LaunchRecord& record : records_of(synthetic)) record.cell.options["dispatch-cost"] = "8us";
  const TextTable table = ddp_cost_table(summarize(synthetic.document()));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0][3], "ddp, dispatch-cost=8us");
  EXPECT_EQ(table.rows[1][3], "ddp, dispatch-cost=8us, grads=views");
  for (const auto& row : table.rows)
    EXPECT_NE(row.back().find("dispatch"), std::string::npos) << row.back();
}

}  // namespace
}  // namespace tandem::reports
