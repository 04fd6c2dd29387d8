// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "reports/answer/verdict.h"
#include "reports/model/subject.h"
#include "reports/render/formats.h"
#include "tests/reports/synthetic.h"
#include "tests/reports/verdict_words.h"

namespace tandem::reports {
namespace {

using Options = std::map<std::string, std::string>;

std::string parts(const Options& options) {
  results::LaunchRecord record;
  record.cell.options = options;
  return modelled_parts(record);
}

TEST(Modelled, EveryModel_IsNamed) {
  EXPECT_EQ(parts({{"dispatch-cost", "8us"}, {"interpreter-lock", "on"}}),
            "dispatch cost 8us, interpreter lock");
  EXPECT_EQ(parts({{"interpreter-lock", "off"}, {"grads", "views"}}), "");
}

TEST(Modelled, RecordOfItsOwn_SaysIt) {
  results::LaunchRecord record;
  record.modelled = {"dispatch cost 8us"};
  EXPECT_EQ(modelled_parts(record), "dispatch cost 8us");
}

Synthetic with_models() {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.08, 0.08}).add("dp", 2, {0.06, 0.06}).add("ddp", 2, {0.05, 0.05});
  const std::vector<results::LaunchRecord> measured = synthetic.document().launches;
  for (const char* cost : {"8us", "16us"}) {
    for (results::LaunchRecord record : measured) {
      if (record.cell.strategy == "single") continue;
      record.cell.options["dispatch-cost"] = cost;
      record.step_seconds = {record.cell.strategy == "dp" ? 0.03 : 0.09};
      synthetic.document().launches.push_back(record);
    }
  }
  return synthetic;
}

TEST(Modelled, NeverSharesACurve_OrABaseline_WithWhatWasMeasured) {
  Synthetic synthetic = with_models();
  const Summary summary = summarize(synthetic.document());
  std::set<std::string> curves;
  for (const CellSummary& cell : summary.cells) curves.insert(conditions_of(cell));
  EXPECT_EQ(curves.size(), 3U);
  EXPECT_EQ(summary.comparisons.size(), 3U);
  for (const CellSummary& cell : summary.cells) {
    EXPECT_TRUE(cell.modelled.empty() || !cell.speedup) << cell.cell.name();
  }
}

TEST(Modelled, NeverDecidesTheVerdict_BesideWhatWasMeasured) {
  Synthetic synthetic = with_models();
  const VerdictText text = verdict(synthetic.document(), summarize(synthetic.document()));
  EXPECT_THAT(text.overall,
              testing::StartsWith(
                  "ddp is faster than dp in the one comparison on 2 devices (1.20 times as fast "));
  ASSERT_EQ(text.workloads.size(), 3U);
  EXPECT_NE(to_text(text).find("(modelled: dispatch cost 8us): dp, dispatch-cost=8us is"),
            std::string::npos);
}

TEST(Modelled, VerdictOfModelsAlone_SaysSoFirst) {
  Synthetic synthetic = with_models();
  auto& launches = synthetic.document().launches;
  std::erase_if(launches, [](const auto& record) { return record.cell.options.empty(); });
  const VerdictText text = verdict(synthetic.document(), summarize(synthetic.document()));
  EXPECT_EQ(
      text.overall,
      "Modelled: dp is faster than ddp in all 2 comparisons on 2 devices (3.00 times as fast).");
}

TEST(Modelled, QuestionsDiffer_WhereTheBatchStartsElsewhere) {
  results::Cell a;
  results::Cell b;
  b.options = {{"grads", "views"}, {"interpreter-lock", "off"}};
  EXPECT_TRUE(same_question(a, b));
  b.options["input"] = "device";
  EXPECT_FALSE(same_question(a, b));
}

// A replay spares the host's work.
TEST(Modelled, ReplayedSteps_AnswerAnotherQuestion_AndAreNoBaseline) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.08, 0.081}).add("dp", 2, {0.06, 0.061});
  synthetic.add("ddp", 2, {0.05, 0.051});
  for (auto& record : synthetic.document().launches) {
    if (record.cell.strategy != "dp") record.cell.options["cuda-graph"] = "on";
  }
  const Summary summary = summarize(synthetic.document());
  for (const StrategyPair& pair : summary.comparisons) {
    EXPECT_TRUE(pair.dp == nullptr || pair.ddp == nullptr);
  }
  for (const CellSummary& cell : summary.cells) {
    EXPECT_EQ(cell.speedup.has_value(), cell.cell.strategy == "ddp") << cell.cell.name();
  }
}

TEST(Planted, Cells_AreNotComparedWithPlainOnes) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06, 0.06}).add("ddp", 2, {0.05, 0.05});
  synthetic.document().launches[2].cell.options["plant"] = "backward:1ms";
  synthetic.document().launches[3].cell.options["plant"] = "backward:1ms";
  EXPECT_TRUE(summarize(synthetic.document()).comparisons.empty());
}

TEST(Planted, Delay_StandsInMarksAndNotes) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06, 0.06}).add("ddp", 2, {0.05, 0.05});
  synthetic.document().launches[0].planted = "reduce:1ms";
  synthetic.document().launches[1].warnings = {"device 1 shares a core"};
  const std::string text = to_text(verdict(synthetic.document(), summarize(synthetic.document())));
  EXPECT_NE(text.find("(dp planted: reduce:1ms)"), std::string::npos) << text;
  EXPECT_NE(text.find("(reduce:1ms) into dp/threads/mlp-small/devices:2/batch:64;"),
            std::string::npos);
  EXPECT_NE(text.find("! warning: device 1 shares a core (in 1 cell)"), std::string::npos);
}

}  // namespace
}  // namespace tandem::reports
