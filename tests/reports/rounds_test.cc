// SPDX-License-Identifier: Apache-2.0
#include "common/stats/rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "reports/model/document_change.h"
#include "reports/render/change.h"
#include "reports/render/formats.h"
#include "tests/reports/compared.h"
#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

using stats::Change;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A machine that becomes 2 % slower with every round.
std::vector<double> drifting(double factor) {
  std::vector<double> seconds;
  for (int round = 0; round < 8; ++round) {
    const double luck = round % 3 == 0 ? 1.0005 : 0.9995;
    seconds.push_back(factor * 0.01 * (1 + 0.02 * round) * (factor == 1 ? 1 : luck));
  }
  return seconds;
}

results::Document reference() {
  results::Document document = Synthetic().add("ddp", 2, drifting(1)).document();
  document.sweep.against = results::Against{.run = "5f0e",
                                            .is_reference = true,
                                            .build = "/before",
                                            .variables = {"NCCL_ALGO=Ring"},
                                            .options = {{"grads", "views"}}};
  for (results::LaunchRecord& launch : document.launches) {
    launch.cell.options["grads"] = "views";
    launch.machine.libraries["tandem"] = "commit 0123456789ab";
  }
  return document;
}

results::Document run_itself(double factor = 1.05) {
  results::Document document = Synthetic().add("ddp", 2, drifting(factor)).document();
  document.sweep.against = reference().sweep.against;
  document.sweep.against->is_reference = false;
  return document;
}

TEST(Rounds, OfOneRun_ARatioIsThatOfItsRounds_AndTheReferencesOptionIsNoDifference) {
  const Compared pair(reference(), run_itself());
  ASSERT_EQ(pair.changes.cells.size(), 1U);
  const CellChange& cell = pair.changes.cells[0];
  EXPECT_EQ(cell.rounds, 8);
  EXPECT_EQ(cell.change, Change::kSlower);
  const auto expected = stats::ratio_in_rounds(drifting(1.05), drifting(1), 0.95);
  EXPECT_DOUBLE_EQ(cell.time_ratio.interval->low, expected.interval->low);
  EXPECT_THAT(pair.changes.lost, IsEmpty());
  EXPECT_THAT(pair.changes.notes, Not(Contains(HasSubstr("only"))));
  EXPECT_THAT(to_json(pair.changes), HasSubstr("\"rounds\": 8"));
}

TEST(Rounds, OfTwoRuns_TheDriftHidesIt_AndAnOptionIsAnotherCell) {
  results::Document other = run_itself();
  other.sweep.against->run = "other";
  EXPECT_THAT(Compared(reference(), other).changes.cells, IsEmpty());
  for (results::LaunchRecord& launch : other.launches) launch.cell.options["grads"] = "views";
  const Compared pair(reference(), other);
  ASSERT_EQ(pair.changes.cells.size(), 1U);
  EXPECT_EQ(pair.changes.cells[0].change, Change::kUnsure);
  EXPECT_EQ(pair.changes.cells[0].rounds, 0);
}

TEST(Rounds, LaunchesArePairedByTheirIndex_AndALonelyOneIsLeftOut) {
  results::Document after = run_itself();
  std::ranges::reverse(after.launches);
  after.launches.pop_back();
  const Compared pair(reference(), after);
  EXPECT_EQ(pair.changes.cells[0].rounds, 7);
  EXPECT_EQ(pair.changes.cells[0].change, Change::kSlower);
}

// The fourth round of one side was disturbed and the sixth of the other: 12 and 8 % of drift apart.
TEST(Rounds, RoundsThatOneSideLacks_AreNoPair) {
  results::Document before = reference();
  results::Document after = run_itself();
  before.launches.erase(before.launches.begin() + 3);
  after.launches.erase(after.launches.begin() + 5);
  const Compared pair(before, after);
  EXPECT_EQ(pair.changes.cells[0].rounds, 6);
  EXPECT_LT(pair.changes.cells[0].time_ratio.interval->high, 1.051);
}

TEST(Rounds, ASingleRound_IsUnsure) {
  results::Document after = run_itself();
  after.launches.resize(1);
  const Compared pair(reference(), after);
  EXPECT_EQ(pair.changes.cells[0].change, Change::kUnsure);
  EXPECT_THAT(pair.changes.cells[0].remarks,
              Contains("a single round does not tell how rounds vary"));
}

TEST(Rounds, ScatterBetweenRuns_DoesNothing_AndItIsSaid) {
  const Compared pair(reference(), run_itself(), {.between_runs = 0.1});
  EXPECT_EQ(pair.changes.cells[0].change, Change::kSlower);
  EXPECT_EQ(pair.changes.rule.between_runs, 0);
  EXPECT_THAT(pair.changes.notes, Contains(HasSubstr("--between-runs does nothing here")));
}

TEST(Rounds, BothSidesAreTold) {
  const Compared pair(reference(), run_itself());
  EXPECT_EQ(pair.changes.sides,
            "A is the reference (the build /before, with NCCL_ALGO=Ring, --grads=views), commit "
            "0123456789ab. B is the run itself.");
  const std::string text = to_text(pair.changes);
  EXPECT_THAT(text, HasSubstr(pair.changes.sides));
  EXPECT_THAT(text, HasSubstr("8 rounds"));
  EXPECT_THAT(text, HasSubstr("Both took turns in one run"));
}

}  // namespace
}  // namespace tandem::reports
