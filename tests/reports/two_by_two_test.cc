// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/two_by_two.h"

#include <gtest/gtest.h>

#include "reports/model/marks.h"
#include "reports/text/table.h"
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
  const TextTable table = two_by_two_table(summarize(synthetic.document()));
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
  const TextTable table = two_by_two_table(summarize(synthetic.document()));
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0][3], "threads (modelled: link 20us:1GBps)");
}

TEST(TwoByTwo, OneDevice_IsNoComparison) {
  Synthetic synthetic = corners();
  for (auto& record : synthetic.document().launches) record.cell.devices = 1;
  EXPECT_TRUE(two_by_two_table(summarize(synthetic.document())).rows.empty());
}

TEST(TwoByTwo, Note_SaysHowDpsTransfersWereMade) {
  Synthetic synthetic = corners();
  const auto note_with = [&](const std::map<std::string, std::string>& resolved) {
    for (auto& record : synthetic.document().launches) {
      if (record.cell.strategy == "dp") record.resolved = resolved;
    }
    return two_by_two_note(summarize(synthetic.document()));
  };
  const std::string copies = note_with({{"broadcast", "sequential"}, {"reduce", "tree"}});
  EXPECT_NE(copies.find("weights went out by copies, one peer after the other;"), copies.npos);
  EXPECT_NE(copies.find("gradients came back by copies, in pairs."), copies.npos);
  const std::string collectives =
      note_with({{"broadcast", "collective"}, {"reduce", "collective"}});
  EXPECT_EQ(collectives.find("copies"), collectives.npos) << collectives;
  EXPECT_NE(collectives.find("weights went out by collectives"), collectives.npos);
  EXPECT_NE(note_with({}).find("in a way that these results do not tell"), copies.npos);
}

TEST(Transfers, Mark_IsForCollectivesThatTheNameDoesNotTellOf) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.08, 0.08});
  auto& launches = synthetic.document().launches;
  const auto mark = [&] { return transfers_mark(summarize(synthetic.document()).cells.front()); };
  for (auto& record : launches) record.resolved = {{"broadcast", "sequential"}};
  EXPECT_EQ(mark(), "");
  launches[1].resolved["broadcast"] = "collective";
  EXPECT_EQ(mark(), "weights not sent alike in all launches");
  for (auto& record : launches) {
    record.resolved = {{"broadcast", "collective"}, {"reduce", "collective"}};
  }
  EXPECT_EQ(mark(), "weights and gradients by collectives");
  for (auto& record : launches) record.cell.options["broadcast"] = "collective";
  EXPECT_EQ(mark(), "gradients by collectives");
}

}  // namespace
}  // namespace tandem::reports
