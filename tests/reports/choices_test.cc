// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/answer/report.h"
#include "reports/answer/verdict.h"
#include "reports/model/phases.h"
#include "reports/render/formats.h"
#include "reports/text/table.h"
#include "tests/reports/synthetic.h"
#include "tests/reports/whole_text.h"

namespace tandem::reports {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

VerdictText choices_of(Synthetic& synthetic) { return make_report(synthetic.document()).verdict; }

// dp at 100 ms of which 30 go to `phase`, ddp at 50 ms; launches differ by `scatter`.
void add_with_phase(Synthetic& synthetic, std::int64_t batch, const std::string& phase,
                    double scatter) {
  synthetic.add("dp", 2, {0.100, 0.101, 0.099}, batch);
  synthetic.add("ddp", 2, {0.050, 0.0505, 0.0495}, batch);
  int launch = 0;
  for (results::LaunchRecord& record : synthetic.document().launches) {
    if (!record.phases.empty()) continue;
    const bool is_dp = record.cell.strategy == "dp";
    const double more = (launch++ % 3 - 1) * scatter;
    record.phases = {{.device = 0,
                      .mean_seconds = {{"forward", 0.02}, {phase, is_dp ? 0.030 + more : 0}},
                      .span_seconds = 0.05}};
    record.critical = record.phases.front();
  }
}

TEST(Reason, IsThePhaseOfTheSlowerOneThatTakesMore_AsAShareOfItsStep) {
  Synthetic synthetic;
  add_with_phase(synthetic, 64, "reduce", 0.001);
  EXPECT_EQ(choices_of(synthetic).overall,
            "ddp is faster than dp in the one comparison on 2 devices (2.00 times as fast on "
            "mlp-small, batch 64). The largest part of the difference: dp spends 30 % of its step "
            "adding gradients on device 0.");
}

TEST(Reason, ThatIsNotResolved_IsNotInvented) {
  Synthetic synthetic;
  add_with_phase(synthetic, 64, "reduce", 0.029);
  EXPECT_EQ(choices_of(synthetic).overall,
            "ddp is faster than dp in the one comparison on 2 devices (2.00 times as fast on "
            "mlp-small, batch 64). Why is open: no phase makes up a third of the difference.");
}

TEST(Choices, LeadsOfSeveralComparisons_AreARange_WithTheLargestNamed) {
  Synthetic synthetic;
  for (const auto& [batch, ddp] : {std::pair(64, 0.05), {128, 0.03}, {256, 0.06}}) {
    synthetic.add("dp", 2, {0.060, 0.0601, 0.0599}, batch);
    synthetic.add("ddp", 2, {ddp, ddp + 0.0001, ddp - 0.0001}, batch);
  }
  const VerdictText verdict = choices_of(synthetic);
  EXPECT_THAT(verdict.overall,
              HasSubstr("ddp is faster than dp in 2 of 3 comparisons on 2 devices (1.20 to 2.00 "
                        "times as fast, most on mlp-small, batch 128); dp in none; 1 not "
                        "resolved."));
  EXPECT_EQ(verdict.lead_model, "mlp-small");
  EXPECT_EQ(verdict.lead_batch, 128);
}

TEST(Reason, OfMostComparisons_SaysOfHowMany) {
  Synthetic synthetic;
  add_with_phase(synthetic, 64, "reduce", 0.001);
  add_with_phase(synthetic, 128, "replicate", 0.001);
  add_with_phase(synthetic, 256, "reduce", 0.001);
  EXPECT_THAT(choices_of(synthetic).overall,
              HasSubstr("in all 3 comparisons on 2 devices (2.00 times as fast). The largest part "
                        "of the difference: dp spends 30 % of its step adding gradients on device "
                        "0, in 2 of 3 comparisons."));
}

TEST(Reason, WithoutPhasesOrWithoutALeader_IsAbsent) {
  Synthetic untimed;
  untimed.add("dp", 2, {0.060, 0.0606, 0.0594}).add("ddp", 2, {0.050, 0.0505, 0.0495});
  const Summary without = summarize(untimed.document());
  EXPECT_FALSE(reason_of(without.comparisons[0]));
  Synthetic open;
  add_with_phase(open, 64, "reduce", 0.001);
  for (results::LaunchRecord& record : open.document().launches) record.step_seconds = {0.05, 0.05};
  const Summary equal = summarize(open.document());
  EXPECT_FALSE(reason_of(equal.comparisons[0]));
}

TEST(Choices, HaveARowPerWorkload_WithWhatToUse) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.08, 0.0801}).add("independent", 2, {0.041, 0.041});
  synthetic.add("dp", 2, {0.06, 0.06}).add("ddp", 2, {0.05, 0.05});
  const TextTable table = choices_of(synthetic).choices;
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_THAT(table.rows[0],
              ElementsAre("mlp-small, batch 64, 2 devices", "80.05 ms", "60.00 ms", "50.00 ms",
                          "41.00 ms", "ddp", "1.20x [1.20 .. 1.20] over dp"));
}

TEST(Choices, OneDeviceThatIsFaster_IsWhatToUse) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.030, 0.0301, 0.0299});
  synthetic.add("dp", 2, {0.060, 0.0601, 0.0599}).add("ddp", 2, {0.050, 0.0501, 0.0499});
  const VerdictText verdict = choices_of(synthetic);
  EXPECT_EQ(verdict.slower,
            "At this point 2 devices are slower than one (one device: 1x): mlp-small, batch 64 (dp "
            "at 0.50x, ddp at 0.60x).");
  EXPECT_EQ(verdict.choices.rows[0][5], "one device");
  EXPECT_THAT(verdict.choices.rows[0][6], HasSubstr("over ddp"));
}

TEST(Choices, OneStrategyThatIsSlowerThanOneDevice_IsNamedAlone) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.055, 0.0551, 0.0549});
  synthetic.add("dp", 2, {0.060, 0.0601, 0.0599}).add("ddp", 2, {0.050, 0.0501, 0.0499});
  EXPECT_EQ(choices_of(synthetic).slower,
            "At this point 2 devices are slower than one (one device: 1x): mlp-small, batch 64 "
            "(dp at 0.92x).");
  EXPECT_EQ(choices_of(synthetic).choices.rows[0][5], "ddp");
}

TEST(Choices, TheLargestGainOverOneDevice_IsInTheSentence_OnlyBeyondDoubt) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.055, 0.0551, 0.0549});
  synthetic.add("dp", 2, {0.060, 0.0601, 0.0599}).add("ddp", 2, {0.050, 0.0501, 0.0499});
  EXPECT_THAT(choices_of(synthetic).overall,
              EndsWith(" Against one device the best is ddp at 1.10x on mlp-small, batch 64."));
  Synthetic unsure;
  unsure.add("single", 1, {0.051, 0.060, 0.042});
  unsure.add("dp", 2, {0.060, 0.0601, 0.0599}).add("ddp", 2, {0.050, 0.0501, 0.0499});
  EXPECT_THAT(choices_of(unsure).overall, Not(HasSubstr("the best")));
}

TEST(Choices, WiderThanAFactorOfThree_SayNothing) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.02, 0.2, 0.06}).add("ddp", 2, {0.03, 0.3, 0.05});
  const TextTable table = choices_of(synthetic).choices;
  EXPECT_EQ(table.rows[0][2], "interval wider than 3x");
  EXPECT_EQ(table.rows[0][6], "interval wider than 3x");
}

TEST(Choices, BeyondADozen_AreCounted) {
  Synthetic synthetic;
  for (int i = 0; i < 15; ++i) {
    const int batch = 64 + i;
    synthetic.add("dp", 2, {0.060, 0.0606, 0.0594}, batch);
    synthetic.add("ddp", 2, {0.050, 0.0505, 0.0495}, batch);
  }
  const TextTable table = choices_of(synthetic).choices;
  ASSERT_EQ(table.rows.size(), 13);
  EXPECT_EQ(table.rows.back()[0], "and 3 more");
}

TEST(Choices, StandInAllThreeOutputs_BelowTheSentence) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.060, 0.0606, 0.0594}).add("ddp", 2, {0.050, 0.0505, 0.0495});
  const Report report = make_report(synthetic.document());
  const std::string html = to_html(report);
  EXPECT_LT(html.find("class=\"overall\""), html.find("id=\"choices\""));
  EXPECT_LT(html.find("id=\"choices\""), html.find("id=\"advice\""));
  EXPECT_THAT(whole_text(report), HasSubstr("\n" + to_text(report.verdict.choices)));
}

}  // namespace
}  // namespace tandem::reports
