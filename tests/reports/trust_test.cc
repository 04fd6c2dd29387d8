// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/trust.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/answer/report.h"
#include "reports/model/phase_marks_cost.h"
#include "tests/reports/cost_samples.h"
#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

const std::vector<double> kMarked{0.0200, 0.0201, 0.0199, 0.0200, 0.0202, 0.0200};

// ddp with marks, and without them so many times as fast.
Report observed(double speed) {
  std::vector<double> bare;
  for (const double seconds : kMarked) bare.insert(bare.begin(), seconds / speed);
  Synthetic both;
  both.add("ddp", 2, kMarked);
  Synthetic without;
  without.add("ddp", 2, bare);
  for (results::LaunchRecord& launch : without.document().launches) {
    launch.cell.options["phases"] = "off";
    both.document().launches.push_back(launch);
  }
  return make_report(both.document());
}

Report with_pairs(const std::string& figures) {
  Synthetic synthetic;
  synthetic.add("ddp", 2, kMarked);
  synthetic.document().others.push_back(
      {.source = "marks",
       .json = R"({"name": "ab/ddp/processes/mlp-small/devices:2/batch:64/against:phases=off",)" +
               figures + "}"});
  return make_report(synthetic.document());
}

std::vector<PhaseMarksCost> costs_of(const Report& report) {
  return phase_marks_costs(report.document, report.summary);
}

std::vector<std::string> lines_of(const Report& report) {
  return phase_marks_cost_lines(report.document, report.summary);
}

TEST(PhaseMarksCost, OfCells_IsTheRatioOfLaunchMedians) {
  const std::vector<PhaseMarksCost> costs = costs_of(observed(1.05));
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_EQ(costs[0].where, "ddp/processes/mlp-small/devices:2/batch:64");
  EXPECT_NEAR(costs[0].ratio.center, 1.05, 1e-9);
  ASSERT_TRUE(costs[0].ratio.interval);
  EXPECT_LT(costs[0].ratio.interval->low, 1.05);
}

TEST(PhaseMarksCost, OfPairs_IsTheInverse_EndsChangePlaces) {
  const auto costs = costs_of(with_pairs(R"("ratio": 0.8, "ratio_low": 0.5, "ratio_high": 1)"));
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_DOUBLE_EQ(costs[0].ratio.center, 1.25);
  EXPECT_DOUBLE_EQ(costs[0].ratio.interval->low, 1);
  EXPECT_DOUBLE_EQ(costs[0].ratio.interval->high, 2);
}

TEST(PhaseMarksCost, IsHeldAgainstTheBar) {
  EXPECT_THAT(lines_of(observed(1.05)), ElementsAre(HasSubstr("more than 1 %")));
  EXPECT_THAT(lines_of(observed(1.008)), ElementsAre(HasSubstr("is not resolved")));
  EXPECT_THAT(lines_of(with_pairs(R"("ratio": 0.999, "ratio_low": 0.997, "ratio_high": 1.001)")),
              ElementsAre(EndsWith("under 1 %.")));
  EXPECT_THAT(lines_of(with_pairs(R"("ratio": 0.999)")), ElementsAre(HasSubstr("too few to tell")));
}

TEST(PhaseMarksCost, OtherOptions_AreNoPair) {
  Report report = observed(1.05);
  for (results::LaunchRecord& launch : report.document.launches) {
    if (launch.cell.options.contains("phases")) launch.cell.options["grads"] = "views";
  }
  EXPECT_TRUE(costs_of(make_report(report.document)).empty());
}

TEST(PhaseMarksCost, WhereNothingTells_NamesTheCommand) {
  EXPECT_THAT(lines_of(make_report(with_collectives().document())),
              ElementsAre(HasSubstr("was not measured in this run, do: mpirun -np")));
  EXPECT_THAT(lines_of(make_report(Synthetic().add("dp", 2, kMarked).document())),
              ElementsAre("Instrumentation: no marks rode on these steps."));
}

TEST(Trust, NumbersAreNotChecked_AndItNamesTheCommand) {
  Synthetic synthetic;
  synthetic.add("dp", 2, kMarked).add("ddp", 2, kMarked);
  const auto lines = trust_lines(synthetic.document(), summarize(synthetic.document()));
  EXPECT_THAT(lines,
              Contains("Numbers: whether strategies compute what one device does was not checked "
                       "in this run, do: tandem verify --strategy=ddp --model=mlp-small "
                       "--devices=2 --batch=64 --backend=host."));
}

TEST(Trust, SearchesForNaN_AreTold) {
  Synthetic synthetic;
  synthetic.add("dp", 2, kMarked);
  for (auto& launch : synthetic.document().launches) launch.cell.options["check-numerics"] = "on";
  const auto lines = trust_lines(synthetic.document(), summarize(synthetic.document()));
  EXPECT_THAT(lines, Contains(HasSubstr("every gradient of 1 cell was searched")));
  EXPECT_THAT(lines, Contains(Not(HasSubstr("--check-numerics="))));
}

TEST(Reproduce, IsTheCommandThatWasGiven_Quoted) {
  results::SweepInfo sweep;
  sweep.name = "quick";
  sweep.commands = {{"run", "my sweeps/a.json", "--launches=3", "--with-torch"}};
  EXPECT_THAT(reproduce_commands(sweep),
              ElementsAre("tandem run 'my sweeps/a.json' --launches=3 --with-torch --out again",
                          "tandem compare results.json again"));
  sweep.commands = {{"explain", "--model=mlp-tiny", "--batch=64"}};
  EXPECT_EQ(reproduce_commands(sweep).front(),
            "tandem explain --model=mlp-tiny --batch=64 --out again");
}

TEST(Reproduce, OfMergedDocuments_IsEachCommandAndTheMerge) {
  results::SweepInfo sweep;
  sweep.name = "quick";
  sweep.commands = {{"run", "quick"}, {}};
  EXPECT_THAT(
      reproduce_commands(sweep),
      ElementsAre("tandem run quick --out again-1", "# the command into again-2 was not recorded",
                  "tandem merge again-1 again-2 --out again", "tandem compare results.json again"));
}

TEST(Reproduce, OfAFolderThatWasExplained_SaysSo) {
  results::SweepInfo sweep;
  sweep.commands = {{"run", "quick"}};
  sweep.additions = {{.cells = {"a"}, .launches_per_cell = 6}};
  EXPECT_THAT(reproduce_commands(sweep), Contains(HasSubstr("what tandem explain added")));
}

TEST(ExampleOptions, QuoteWhatAShellWouldTake) {
  Synthetic synthetic;
  synthetic.add("dp", 2, kMarked);
  for (auto& launch : synthetic.document().launches) launch.cell.model = "a'; rm -rf b";
  EXPECT_THAT(example_options(make_report(synthetic.document()).summary),
              HasSubstr(R"('--model=a'\''; rm -rf b')"));
  EXPECT_EQ(example_options(Summary{}), "");
}

}  // namespace
}  // namespace tandem::reports
