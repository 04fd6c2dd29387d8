// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reports/model/communication.h"
#include "reports/tables/ddp.h"
#include "reports/text/section_words.h"
#include "reports/text/table.h"
#include "tests/reports/cost_samples.h"

namespace tandem::reports {
namespace {

using results::LaunchRecord;

std::vector<LaunchRecord>& launches(Synthetic& synthetic) { return synthetic.document().launches; }

TEST(Collectives, Total_IsTheSumOfEachBucketsLeastRank) {
  Synthetic synthetic = with_collectives();
  const Summary summary = summarize(synthetic.document());
  const std::vector<CommunicationTimes> found = communication_times(summary);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cell->cell.strategy, "ddp");
  EXPECT_NEAR(found[0].total.center, 5e-3, 1e-12);
  EXPECT_NEAR(found[0].exposed.center, 2e-3, 1e-12);
  ASSERT_TRUE(found[0].hidden_share);
  EXPECT_NEAR(found[0].hidden_share->center, 0.6, 1e-12);
  EXPECT_EQ(found[0].size_bytes(), 10'000'000);
  EXPECT_EQ(found[0].left_out, 0);
}

TEST(Collectives, HiddenShare_IsOfEachLaunch_AndOfThatTheMean) {
  Synthetic synthetic = with_collectives();
  launches(synthetic)[0].least_exposed_seconds = 1e-3;  // hidden: 0.8, 0.6, 0.4
  launches(synthetic)[2].least_exposed_seconds = 3e-3;
  const Summary summary = summarize(synthetic.document());
  const CommunicationTimes times = communication_times(summary).at(0);
  EXPECT_NEAR(times.hidden_share->center, 0.6, 1e-12);
  ASSERT_TRUE(times.hidden_share->interval);
  // t(0.95, 2) = 4.303, s = 0.2, n = 3.
  EXPECT_NEAR(times.hidden_share->interval->high, 0.6 + 4.3027 * 0.2 / std::sqrt(3), 1e-4);
}

TEST(Collectives, MoreExposedThanTheCollectivesTake_IsNotHidden) {
  Synthetic synthetic = with_collectives();
  for (LaunchRecord& record : launches(synthetic)) record.least_exposed_seconds = 6e-3;
  const TextTable table = collective_table(summarize(synthetic.document()));
  EXPECT_EQ(table.rows.at(0)[8], "-20.0 % [-20.0 .. -20.0]");
}

TEST(Collectives, IntervalsEndWhereSharesAndTimesDo) {
  Synthetic synthetic = with_collectives();
  launches(synthetic)[0].least_exposed_seconds = 0;
  launches(synthetic)[1].least_exposed_seconds = 0;
  launches(synthetic)[2].least_exposed_seconds = 0.3e-3;
  const TextTable table = collective_table(summarize(synthetic.document()));
  EXPECT_EQ(table.rows.at(0)[7], "0.100 [0.000 .. 0.530]");
  EXPECT_EQ(table.rows.at(0)[8], "98.0 % [89.4 .. 100.0]");
}

TEST(Collectives, Row_HoldsBucketsBytesAndTimes) {
  Synthetic synthetic = with_collectives();
  const TextTable table = collective_table(summarize(synthetic.document()));
  ASSERT_EQ(table.rows.size(), 1U);
  ASSERT_EQ(table.rows[0].size(), table.columns.size());
  EXPECT_EQ(std::vector<std::string>(table.rows[0].begin() + 3, table.rows[0].end() - 1),
            (std::vector<std::string>{"ddp", "3", "9.5 MiB", "5.000 [5.000 .. 5.000]",
                                      "2.000 [2.000 .. 2.000]", "60.0 % [60.0 .. 60.0]"}));
}

TEST(Collectives, WorldOfOne_HasNoBandwidth_AndNoRow) {
  Synthetic one = with_collectives();
  for (LaunchRecord& record : launches(one)) record.cell.devices = 1;
  EXPECT_TRUE(collective_table(summarize(one.document())).rows.empty());
  Synthetic small = with_collectives();
  for (LaunchRecord& record : launches(small)) record.devices_used = 1;
  EXPECT_TRUE(collective_table(summarize(small.document())).rows.empty());
}

TEST(Collectives, LaunchesWithOtherBuckets_AreLeftOut_AndCounted) {
  Synthetic synthetic = with_collectives();
  launches(synthetic)[1].collectives.pop_back();
  launches(synthetic)[2].collectives.clear();
  const Summary summary = summarize(synthetic.document());
  EXPECT_EQ(communication_times(summary).at(0).left_out, 2);
  EXPECT_NEAR(communication_times(summary).at(0).total.center, 5e-3, 1e-12);
  const std::string remark = collective_table(summary).rows.at(0).back();
  EXPECT_NE(remark.find("2 launches without these buckets left out"), std::string::npos);
}

TEST(Collectives, CompressedBuckets_SayThatBytesAreThoseOfGradients) {
  Synthetic synthetic = with_collectives();
  for (LaunchRecord& record : launches(synthetic)) record.cell.options["compress"] = "bf16";
  const TextTable table = collective_table(summarize(synthetic.document()));
  EXPECT_NE(table.rows.at(0).back().find("bytes before compression"), std::string::npos);
}

TEST(Collectives, NoTimeAtAll_HasNoShare) {
  Synthetic synthetic = with_collectives();
  for (LaunchRecord& record : launches(synthetic)) {
    for (auto& collective : record.collectives) collective.least_seconds = 0;
  }
  const Summary summary = summarize(synthetic.document());
  EXPECT_EQ(collective_table(summary).rows.at(0)[8], "-");
}

TEST(Collectives, NoDevicesTimed_IsNoCollective) {
  Synthetic synthetic = with_collectives();
  for (LaunchRecord& record : launches(synthetic)) {
    for (auto& collective : record.collectives) collective.mean_seconds.clear();
  }
  EXPECT_TRUE(collective_table(summarize(synthetic.document())).rows.empty());
}

}  // namespace
}  // namespace tandem::reports
