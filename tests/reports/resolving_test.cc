// SPDX-License-Identifier: Apache-2.0
//
// Documents of a sweep that goes on until its comparisons are resolved: with which confidence, and
// what says that two strategies are equal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/stats/looks.h"
#include "common/stats/rounds.h"
#include "reports/answer/report.h"
#include "reports/answer/verdict.h"
#include "reports/model/subject.h"
#include "reports/model/summary.h"
#include "reports/render/csv.h"
#include "reports/render/formats.h"
#include "reports/tables/cells.h"
#include "tests/reports/csv_rows.h"
#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr results::Resolving kLooks{
    .ratio = 0.03, .comparisons = 2, .first_round = 4, .last_round = 16};

// Launches that drift together and differ by half a percent from round to round.
std::vector<double> launches_of(int rounds, double seconds, double sign = 1) {
  std::vector<double> list;
  for (int round = 0; round < rounds; ++round) {
    const double luck = round % 2 == 0 ? 0.0025 : -0.0025;
    list.push_back(seconds * (1 + 0.01 * round) * (1 + sign * luck));
  }
  return list;
}

// dp and ddp on as many devices, dp as long as `ratio` times ddp.
Synthetic resolving(int rounds, double ratio, int devices = 2) {
  Synthetic synthetic;
  synthetic.add("dp", devices, launches_of(rounds, 0.1 * ratio))
      .add("ddp", devices, launches_of(rounds, 0.1, -1));
  synthetic.document().sweep.resolving = kLooks;
  return synthetic;
}

// The level of the look after so many rounds, of each of the two comparisons.
double level_after(int rounds) {
  const std::vector<double> levels = stats::levels_of_looks(
      {.first = 4, .last = 16, .level = stats::kShareForFewRounds * 0.05 / 2});
  return levels.at(static_cast<std::size_t>(rounds - 4));
}

TEST(Resolving, EachLook_HasTheConfidenceOfItsRound) {
  for (const int rounds : {4, 5, 10, 16}) {
    Synthetic synthetic = resolving(rounds, 1.2);
    const Summary summary = summarize(synthetic.document());
    const StrategyPair& pair = summary.comparisons.at(0);
    EXPECT_NEAR(pair.confidence, 1 - level_after(rounds), 1e-12) << rounds;
    const stats::Estimate expected = stats::ratio_in_rounds(
        launches_of(rounds, 0.12), launches_of(rounds, 0.1, -1), 1 - level_after(rounds));
    EXPECT_NEAR(pair.ddp_speed.interval->low, expected.interval->low, 1e-12) << rounds;
    EXPECT_EQ(pair.ddp_verdict, stats::Verdict::kFaster) << rounds;
  }
}

TEST(Resolving, LaunchesBeyondTheLastLook_HaveItsConfidence) {
  Synthetic synthetic = resolving(20, 1.2);
  EXPECT_NEAR(summarize(synthetic.document()).comparisons.at(0).confidence, 1 - level_after(16),
              1e-12);
}

TEST(Resolving, ADisturbedRound_IsALookAsWell) {
  Synthetic synthetic = resolving(7, 1.2);
  results::TakenTime& taken = synthetic.document().launches[2].taken.emplace();
  taken.window_seconds = 10;
  taken.run_delay_seconds = 9;
  const Summary summary = summarize(synthetic.document());
  ASSERT_EQ(summary.comparisons.at(0).dp->launches, 6);
  EXPECT_NEAR(summary.comparisons[0].confidence, 1 - level_after(7), 1e-12);
}

TEST(Resolving, BeforeTheFirstLook_NothingIsJudged) {
  Synthetic clear = resolving(3, 2);
  EXPECT_EQ(summarize(clear.document()).comparisons.at(0).ddp_verdict,
            stats::Verdict::kNotResolved);
  Synthetic equal = resolving(3, 1);
  EXPECT_FALSE(summarize(equal.document()).comparisons.at(0).equal_within);
}

TEST(Resolving, OneDevice_IsNoneOfTheComparisons) {
  Synthetic synthetic = resolving(4, 1, 1);
  const Summary summary = summarize(synthetic.document());
  EXPECT_EQ(summary.comparisons.at(0).confidence, stats::kConfidence);
  EXPECT_FALSE(summary.comparisons[0].equal_within);
}

TEST(Resolving, WhatIsEqual_IsSaidWhereverTheComparisonStands) {
  Synthetic synthetic = resolving(8, 1);
  const Report report = make_report(synthetic.document());
  EXPECT_EQ(report.verdict.overall, "dp and ddp are equal in the one comparison on 2 devices.");
  EXPECT_THAT(report.verdict.workloads.at(0), HasSubstr("are equal within 3 % (speed ratio 1.00"));
  EXPECT_THAT(report.verdict.breaks.at(0), HasSubstr("No break-even was found"));
  EXPECT_EQ(comparison_table(report.summary).rows.at(0).back(), "not resolved, equal within 3 %");
  EXPECT_THAT(to_html(report), HasSubstr(R"("equal":"equal within 3 %")"));
  EXPECT_THAT(to_markdown(report), HasSubstr("not resolved, equal within 3 %"));
  const std::vector<CsvRow> rows = csv_rows(to_comparisons_csv(report.summary));
  EXPECT_EQ(rows.at(0).at("ddp_is"), "not resolved");
  EXPECT_EQ(rows[0].at("equal_within"), "0.03");
}

TEST(Resolving, WhatIsFasterByLess_IsBoth) {
  Synthetic synthetic = resolving(16, 1.01);
  const Summary summary = summarize(synthetic.document());
  EXPECT_EQ(comparison_table(summary).rows.at(0).back(), "faster, equal within 3 %");
}

TEST(Resolving, AFixedNumberOfLaunches_ShowsNothingEqual) {
  Synthetic synthetic = resolving(8, 1);
  synthetic.document().sweep.resolving.reset();
  const Summary summary = summarize(synthetic.document());
  EXPECT_EQ(summary.comparisons.at(0).confidence, stats::kConfidence);
  EXPECT_EQ(csv_rows(to_comparisons_csv(summary)).at(0).at("equal_within"), "");
}

// The document as torch's, of a user's module.
VerdictText of_torch(Synthetic& synthetic, const std::string& backend = "host") {
  for (results::LaunchRecord& record : synthetic.document().launches) {
    record.cell.options[kImplementation] = "torch-2.15.0";
    record.cell.model = "own.py:build#0123456789abcdef";
    record.cell.backend = backend;
  }
  return verdict(synthetic.document(), summarize(synthetic.document()));
}

TEST(Resolving, OfTorch_WhatIsEqualIsSaid_WithTheConfidenceOfTheLook) {
  Synthetic one = resolving(8, 1);
  const std::string overall = of_torch(one).overall;
  EXPECT_THAT(overall, HasSubstr("2 devices: DataParallel and DistributedDataParallel are equal "
                                 "within 3 % (speed ratio 1.00, "));
  EXPECT_THAT(overall, Not(HasSubstr("95 % interval")));
  EXPECT_THAT(overall, HasSubstr(" % interval "));
  Synthetic two = resolving(8, 1);
  two.add("dp", 2, launches_of(8, 0.2), 128).add("ddp", 2, launches_of(8, 0.1, -1), 128);
  const VerdictText several = of_torch(two);
  EXPECT_THAT(several.overall, EndsWith("is faster in 1, slower in 0, equal in 1; not resolved: "
                                        "0."));
  EXPECT_THAT(several.workloads.at(0), HasSubstr("are equal within 3 % (speed ratio 1.00, "));
}

TEST(Resolving, OfPretendedGpus_TheHostsWorkIsEqual) {
  Synthetic synthetic = resolving(8, 1);
  EXPECT_THAT(of_torch(synthetic, "pretended-a100").overall,
              HasSubstr("2 devices: the host's work of a step under DataParallel against "
                        "DistributedDataParallel is equal within 3 %"));
  EXPECT_EQ(comparison_table(summarize(synthetic.document())).rows.at(0).back(),
            "not resolved (pretended: host work), equal within 3 %");
}

}  // namespace
}  // namespace tandem::reports
