// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/stats/comparison.h"
#include "reports/model/document_change.h"
#include "reports/render/formats.h"
#include "tests/reports/compared.h"
#include "tests/reports/synthetic.h"
#include "tests/reports/whole_text.h"

namespace tandem::reports {
namespace {

using stats::Change;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::vector<double> kLaunches{0.0100, 0.0101, 0.0099, 0.0100, 0.0102, 0.0100};

std::vector<double> times(double factor) {
  std::vector<double> scaled = kLaunches;
  for (double& seconds : scaled) seconds *= factor;
  // Another run's launches are never the same to the nanosecond.
  scaled.front() *= 1.0001;
  return scaled;
}

results::Document document(double dp, double ddp = 1) {
  return Synthetic().add("dp", 2, times(dp)).add("ddp", 2, times(ddp)).document();
}

// The document with something changed in each launch.
template <class Change>
results::Document with(results::Document document, Change change) {
  for (results::LaunchRecord& launch : document.launches) change(launch);
  return document;
}

TEST(DocumentChange, EachCellIsJudgedByItself) {
  const Compared pair(document(1, 1), document(1.1, 0.9));
  ASSERT_EQ(pair.changes.cells.size(), 2U);
  EXPECT_EQ(pair.changes.cells[0].before->cell.strategy, "dp");
  EXPECT_EQ(pair.changes.cells[0].change, Change::kSlower);
  EXPECT_NEAR(pair.changes.cells[0].time_ratio.center, 1.1, 1e-9);
  EXPECT_EQ(pair.changes.cells[1].change, Change::kFaster);
  EXPECT_EQ(pair.changes.count(Change::kSlower), 1);
}

TEST(DocumentChange, IntervalsAreThoseOfAllCellsTogether) {
  const Compared pair(document(1), document(1.02));
  EXPECT_DOUBLE_EQ(pair.changes.confidence, 0.975);
  const auto alone = stats::ratio_by_t(times(1.02), times(1), 0.975);
  EXPECT_DOUBLE_EQ(pair.changes.cells[0].time_ratio.interval->high, alone.interval->high);
}

TEST(DocumentChange, ScatterBetweenRuns_WidensIntervals_AndIsTold) {
  const Compared pair(document(1), document(1.05), {.between_runs = 0.03});
  EXPECT_EQ(pair.changes.cells[0].change, Change::kUnsure);
  EXPECT_THAT(pair.changes.cells[0].remarks, IsEmpty());
  EXPECT_THAT(whole_text(pair.changes), HasSubstr("hold a scatter of 3 % between runs"));
  EXPECT_THAT(to_json(pair.changes), HasSubstr("\"between_runs\": 0.03"));
}

TEST(DocumentChange, WithinTheThreshold_IsTheSame_AndBeyondSaysSo) {
  EXPECT_EQ(Compared(document(1), document(1.005)).changes.cells[0].change, Change::kSame);
  const Compared strict(document(1), document(1.05), {.threshold = 0.01});
  EXPECT_EQ(strict.changes.cells[0].change, Change::kSlower);
  EXPECT_THAT(strict.changes.cells[0].remarks, Contains("by more than 1 %"));
}

TEST(DocumentChange, ASingleLaunch_IsUnsure_AndCountsForNobodyElse) {
  results::Document one = Synthetic().add("dp", 2, {0.02}).add("ddp", 2, times(1)).document();
  const Compared pair(document(1), one);
  EXPECT_EQ(pair.changes.cells[0].change, Change::kUnsure);
  EXPECT_FALSE(pair.changes.cells[0].time_ratio.interval);
  EXPECT_DOUBLE_EQ(pair.changes.confidence, 0.95);
  EXPECT_THAT(pair.changes.notes, Contains(HasSubstr("1 cell is UNSURE, since a single launch")));
}

TEST(DocumentChange, OtherOptionsModesOrModels_AreOtherCells) {
  const auto option = [](auto& launch) { launch.cell.options["grads"] = "views"; };
  const auto mode = [](auto& launch) { launch.mode = "free-running"; };
  const auto batch = [](auto& launch) { launch.cell.global_batch = 128; };
  EXPECT_THAT(Compared(document(1), with(document(1), option)).changes.cells, IsEmpty());
  EXPECT_THAT(Compared(document(1), with(document(1), mode)).changes.cells, IsEmpty());
  EXPECT_THAT(Compared(document(1), with(document(1), batch)).changes.cells, IsEmpty());
}

TEST(DocumentChange, APlantedDelay_MeetsTheSameCellWithoutIt_AndIsTold) {
  const auto planted = [](results::LaunchRecord& launch) {
    if (launch.cell.strategy != "ddp") return;
    launch.cell.options["plant"] = "backward:2ms";
    launch.planted = "backward:2ms";
  };
  const Compared pair(document(1, 1), with(document(1, 1.2), planted));
  ASSERT_EQ(pair.changes.cells.size(), 2U);
  EXPECT_EQ(pair.changes.cells[1].change, Change::kSlower);
  EXPECT_THAT(pair.changes.cells[1].remarks, Contains("B: planted: backward:2ms"));
  EXPECT_THAT(pair.changes.lost, IsEmpty());
  EXPECT_THAT(pair.changes.notes, Not(Contains(HasSubstr("only"))));
}

TEST(DocumentChange, APlantedDelay_ThatBothHave_MeetsItselfAlone) {
  results::Document both = document(1, 1);
  for (const results::LaunchRecord& launch : document(1, 1.2).launches) {
    if (launch.cell.strategy != "ddp") continue;
    both.launches.push_back(launch);
    both.launches.back().cell.options["plant"] = both.launches.back().planted = "backward:2ms";
  }
  const Compared pair(both, both);
  ASSERT_EQ(pair.changes.cells.size(), 3U);
  for (const CellChange& cell : pair.changes.cells) {
    EXPECT_EQ(cell.before->planted, cell.after->planted);
  }
}

TEST(DocumentChange, APlantedFault_IsAFailedCell_AndNoMissingOne) {
  const auto faulty = [](results::LaunchRecord& launch) {
    if (launch.cell.strategy != "ddp") return;
    launch.cell.options["fault"] = "killed";
    launch.status = results::Status::kFailed;
    launch.step_seconds.clear();
  };
  const Compared pair(document(1, 1), with(document(1, 1), faulty));
  EXPECT_EQ(pair.changes.count_failed(), 1);
  EXPECT_EQ(pair.changes.count_missing(), 0);
}

TEST(DocumentChange, ACellThatFailedInBoth_IsTold) {
  const auto failed = [](results::LaunchRecord& launch) {
    if (launch.cell.strategy == "ddp") launch.status = results::Status::kFailed;
  };
  const Compared pair(with(document(1, 1), failed), with(document(1, 1), failed));
  EXPECT_EQ(pair.changes.count_failed(), 1);
  EXPECT_THAT(pair.changes.notes, Contains(HasSubstr("failed in A too")));
}

TEST(DocumentChange, AModelledStep_NeverMeetsAMeasuredOne) {
  const auto modelled = [](auto& launch) { launch.modelled = {"dispatch cost 8us"}; };
  const auto asked = [](auto& launch) { launch.cell.options["dispatch-cost"] = "8us"; };
  EXPECT_THAT(Compared(document(1), with(document(1), modelled)).changes.cells, IsEmpty());
  EXPECT_THAT(Compared(document(1), with(document(1), asked)).changes.cells, IsEmpty());
  EXPECT_EQ(Compared(with(document(1), asked), with(document(1), asked)).changes.cells.size(), 2U);
}

TEST(DocumentChange, OneWildLaunch_LeavesItUnsure) {
  std::vector<double> wild = times(1.2);
  wild[3] *= 5;
  const Compared pair(Synthetic().add("dp", 2, times(1)).document(),
                      Synthetic().add("dp", 2, wild).document());
  EXPECT_EQ(pair.changes.cells[0].change, Change::kUnsure);
}

TEST(DocumentChange, MarksOfEitherSide_AreNamed) {
  const auto marked = with(document(1), [](auto& launch) { launch.oversubscribed = true; });
  EXPECT_THAT(Compared(document(1), marked).changes.cells[0].remarks,
              ElementsAre("B: oversubscribed"));
  EXPECT_THAT(Compared(marked, marked).changes.cells[0].remarks, ElementsAre("oversubscribed"));
}

TEST(ChangeNotes, TheSameMachine_NeedsNoLine) {
  EXPECT_THAT(Compared(document(1), document(1.001, 1.001)).changes.notes, IsEmpty());
}

TEST(ChangeNotes, MachinesAndSoftware_AreSaid) {
  const auto other = [](auto& launch) {
    launch.machine.cpu_model = "Other CPU";
    launch.machine.cores = 4;
    launch.machine.libraries["oneDNN"] = "3.1";
  };
  EXPECT_THAT(Compared(document(1), with(document(1.001, 1.001), other)).changes.notes,
              ElementsAre("machines differ: CPU Test CPU against Other CPU, cores 2 against 4",
                          "software differs: oneDNN none against 3.1"));
}

TEST(ChangeNotes, ARunWithoutAMeasuredLaunch_TellsOfNoMachine) {
  const auto failed = [](results::LaunchRecord& launch) {
    launch.status = results::Status::kFailed;
    launch.machine = {};
  };
  const Compared pair(document(1), with(document(1), failed));
  EXPECT_EQ(pair.changes.count_failed(), 2);
  EXPECT_THAT(pair.changes.notes, Not(Contains(HasSubstr("differ"))));
}

TEST(ChangeNotes, CellsOfOneDocumentAlone_AreNamedWithTheReason) {
  results::Document fewer = Synthetic()
                                .add("dp", 2, times(1.001))
                                .add_without_time("ddp", 2, results::Status::kFailed, "it crashed")
                                .document();
  EXPECT_THAT(Compared(document(1), fewer).changes.notes,
              ElementsAre("only A measured 1 cell: ddp/processes/mlp-small/devices:2/batch:64 (B: "
                          "failed: it crashed)"));
}

TEST(ChangeText, SaysVerdictsRatiosAndCounts) {
  const Compared compared(document(1, 1), document(1.1, 1));
  const std::string text = whole_text(compared.changes);
  EXPECT_THAT(text, HasSubstr("1.100x [1.0"));
  EXPECT_THAT(text, HasSubstr("SLOWER"));
  EXPECT_THAT(text, HasSubstr("each with 97.5 %"));
  EXPECT_THAT(
      text, testing::StartsWith("2 cells: 1 SLOWER, 0 FASTER, 1 SAME, 0 NOT SLOWER, 0 UNSURE.\n"));
}

TEST(ChangeText, TheAnswer_HasOnlyCellsThatChanged) {
  const Compared changed(document(1, 1), document(1.1, 1));
  const Compared same(document(1, 1), document(1, 1));
  EXPECT_THAT(to_terminal(changed.changes), HasSubstr("1.100x ["));
  EXPECT_THAT(to_terminal(changed.changes), Not(HasSubstr("1.000x [")));
  EXPECT_EQ(to_terminal(same.changes),
            "2 cells: 0 SLOWER, 0 FASTER, 2 SAME, 0 NOT SLOWER, 0 UNSURE.\n");
}

TEST(ChangeText, JsonHasTheSame_AndNoIntervalIsNull) {
  results::Document one = Synthetic().add("dp", 2, {0.02}).add("ddp", 2, times(1.1)).document();
  const auto json = nlohmann::json::parse(to_json(Compared(document(1), one).changes));
  EXPECT_EQ(json["counts"]["SLOWER"], 1);
  EXPECT_EQ(json["counts"]["UNSURE"], 1);
  EXPECT_EQ(json["threshold"], 0.03);
  EXPECT_TRUE(json["cells"][0]["time_ratio"]["low"].is_null());
  EXPECT_EQ(json["cells"][1]["verdict"], "SLOWER");
  EXPECT_EQ(json["cells"][1]["beyond_threshold"], true);
  EXPECT_NEAR(json["cells"][1]["time_ratio"]["center"].get<double>(), 1.1, 1e-9);
  EXPECT_EQ(json["cells"][1]["launches"][0], 6);
}

}  // namespace
}  // namespace tandem::reports
