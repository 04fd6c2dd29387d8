// SPDX-License-Identifier: Apache-2.0
#include "reports/model/power.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reports/answer/report.h"
#include "reports/render/change.h"
#include "reports/render/formats.h"
#include "tests/reports/compared.h"
#include "tests/reports/synthetic.h"

namespace tandem::reports {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Launches whose ratio to ones of 10 ms scatters by exactly `scatter`.
std::vector<double> six_launches(double scatter) {
  std::vector<double> seconds;
  for (int launch = 0; launch < 6; ++launch) {
    const double away = scatter * std::sqrt(5.0 / 6);
    seconds.push_back(0.012 * std::exp(launch % 2 == 0 ? away : -away));
  }
  return seconds;
}

const std::vector<double> kSteady(6, 0.010);

results::Document two_comparisons() {
  Synthetic made;
  made.add("dp", 2, six_launches(0.01)).add("ddp", 2, kSteady);
  made.add("dp", 2, six_launches(0.04), 512).add("ddp", 2, kSteady, 512);
  return made.document();
}

std::string power_of(const results::Document& document) {
  return power_text(tellings(document, summarize(document)));
}

// By stats::least_ratio_told() of six rounds: 3.53 standard errors. Against a reference the
// threshold of 3 % is the least difference that counts.
TEST(PowerText, NamesTheFinestAndTheCoarsestDifference_AndWhatThreePercentTake) {
  EXPECT_EQ(power_of(two_comparisons()),
            "What 6 launches tell in four of five such sweeps: differences from 1.5 % (mlp-small "
            "batch 64 on 2 devices) to 5.9 % (mlp-small batch 512 on 2 devices) on. To tell 3 % "
            "takes 4 to 19 launches.");
}

TEST(PowerText, CellsThatDifferByAnOption_AreNamedWithIt) {
  results::Document document = two_comparisons();
  for (results::LaunchRecord& record : document.launches) {
    if (record.cell.strategy == "dp" && record.cell.global_batch == 64) {
      record.cell.options["threads"] = "kept";
    }
  }
  EXPECT_THAT(power_of(document),
              HasSubstr("(dp, threads=kept and ddp on mlp-small batch 64 on 2 devices)"));
  EXPECT_THAT(power_of(document), HasSubstr("(mlp-small batch 512 on 2 devices)"));
}

TEST(PowerText, LaunchesToCome_AreForetoldByThoseThatAreThere) {
  const std::string text = foretold({two_comparisons()}, 20);
  EXPECT_THAT(text, HasSubstr("What 20 launches tell"));
  EXPECT_THAT(text, HasSubstr("to 2.8 % (mlp-small batch 512 on 2 devices) on"));
  EXPECT_THAT(text, HasSubstr("To tell 3 % takes 4 to 19 launches"));
}

TEST(PowerText, NeedsThreeRounds_AndADocumentThatDoesNotGoOnUntilItTells) {
  results::Document few = two_comparisons();
  std::erase_if(few.launches, [](const auto& launch) { return launch.launch_index > 1; });
  EXPECT_THAT(power_of(few), IsEmpty());
  results::Document resolving = two_comparisons();
  resolving.sweep.resolving =
      results::Resolving{.ratio = 0.03, .comparisons = 2, .first_round = 4, .last_round = 24};
  EXPECT_THAT(power_of(resolving), IsEmpty());
}

TEST(PowerText, OfOneDevice_NothingIsTold) {
  Synthetic made;
  made.add("dp", 1, six_launches(0.01)).add("ddp", 1, kSteady);
  EXPECT_THAT(power_of(made.document()), IsEmpty());
}

TEST(PowerText, WildLaunches_TakeMoreThanAThousand) {
  Synthetic made;
  made.add("dp", 2, six_launches(1)).add("ddp", 2, kSteady);
  EXPECT_THAT(power_of(made.document()), HasSubstr("a factor of 4."));
  EXPECT_THAT(power_of(made.document()), HasSubstr("To tell 3 % takes more than 1000 launches."));
}

TEST(PowerText, StandsInTheTerminalAndAmongWhatToTrust) {
  const Report report = make_report(two_comparisons());
  const std::string text = power_of(two_comparisons());
  EXPECT_THAT(to_terminal(report), HasSubstr(text));
  EXPECT_THAT(to_markdown(report), HasSubstr(text));
}

results::Document side_of_one_run(const std::vector<double>& seconds, bool is_reference) {
  Synthetic made;
  made.add("ddp", 2, seconds);
  made.document().sweep.against = results::Against{.run = "5f0e", .is_reference = is_reference};
  return made.document();
}

TEST(PowerText, OfARunAgainstAReference_IsThatOfEachCell) {
  const results::Document reference = side_of_one_run(kSteady, true);
  const results::Document run = side_of_one_run(six_launches(0.01), false);
  const Compared pair(reference, run);
  ASSERT_THAT(tellings(pair.changes), SizeIs(1));
  const std::string text = power_text(tellings(pair.changes));
  EXPECT_THAT(text, HasSubstr("differences from 3 % (ddp on mlp-small batch 64 on 2 devices) on"));
  EXPECT_THAT(to_text(pair.changes), HasSubstr(text));
  EXPECT_THAT(foretold({run, reference}, 6), text);
}

TEST(PowerText, OfTwoRuns_NothingIsTold) {
  results::Document other = side_of_one_run(six_launches(0.01), false);
  other.sweep.against.reset();
  const Compared pair(side_of_one_run(kSteady, true), other);
  EXPECT_THAT(tellings(pair.changes), IsEmpty());
  EXPECT_THAT(to_text(pair.changes), Not(HasSubstr("four of five")));
}

}  // namespace
}  // namespace tandem::reports
