// SPDX-License-Identifier: Apache-2.0
#include "reports/answer/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "reports/answer/report.h"
#include "tests/reports/synthetic.h"
#include "tests/reports/verdict_words.h"

namespace tandem::reports {
namespace {

using results::Status;

VerdictText verdict_of(Synthetic& synthetic) { return make_report(synthetic.document()).verdict; }

bool verdict_has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Verdict, FirstWords_NameWhatWasMeasured) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06, 0.061}).add("ddp", 2, {0.05, 0.051});
  EXPECT_TRUE(to_text(verdict_of(synthetic))
                  .starts_with("CPU only: 2 cores of Test CPU, says nothing about GPUs.\n"));
}

TEST(Verdict, Faster_SaysByHowMuchAndHowSure) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.060, 0.0606, 0.0594}).add("ddp", 2, {0.0505, 0.0495, 0.050});
  const VerdictText verdict = verdict_of(synthetic);
  EXPECT_EQ(
      verdict.workloads[0],
      "mlp-small, batch 64, 2 devices: ddp is 1.20 times as fast as dp (95 % interval 1.15 to "
      "1.25, 3 launches each).");
  EXPECT_EQ(verdict.overall,
            "ddp is faster than dp in the one comparison on 2 devices (1.20 times as fast on "
            "mlp-small, batch 64).");
}

TEST(Verdict, DpFaster_IsSaidOfDp) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.050, 0.0505, 0.0495}).add("ddp", 2, {0.060, 0.0606, 0.0594});
  EXPECT_TRUE(
      verdict_has(verdict_of(synthetic).workloads[0], "dp is 1.20 times as fast as ddp (95 %"));
}

TEST(Verdict, IntervalThatHoldsOne_IsNotResolved) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.05, 0.06, 0.055}).add("ddp", 2, {0.052, 0.049, 0.058});
  const VerdictText verdict = verdict_of(synthetic);
  EXPECT_TRUE(verdict_has(verdict.workloads[0], "ddp against dp is not resolved"))
      << verdict.workloads[0];
  EXPECT_TRUE(verdict_has(verdict.workloads[0], "holds 1"));
  EXPECT_TRUE(verdict_has(verdict.overall, "not resolved"));
}

// Where most of a cell's launches are disturbed the figures are of all, and the sentence says so.
TEST(Verdict, OfDisturbedLaunches_SaysSoInItsSentence) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.060, 0.0606, 0.0594}).add("ddp", 2, {0.050, 0.0505, 0.0495});
  std::vector<results::LaunchRecord>& launches = synthetic.document().launches;
  const auto disturb = [&](std::size_t launch) {
    launches[launch].taken.emplace();
    launches[launch].taken->window_seconds = 1;
    launches[launch].taken->run_delay_seconds = 0.5;
  };
  disturb(0);
  EXPECT_FALSE(verdict_has(verdict_of(synthetic).workloads[0], "disturbed"));
  disturb(1);
  EXPECT_TRUE(verdict_has(verdict_of(synthetic).workloads[0],
                          "3 launches each); most launches of dp were disturbed (others took their "
                          "time)."));
  for (const std::size_t launch : {3, 4}) disturb(launch);
  EXPECT_TRUE(verdict_has(verdict_of(synthetic).workloads[0],
                          "; most launches were disturbed (others took their time)."));
}

TEST(Verdict, OneLaunch_IsNotResolved) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06}).add("ddp", 2, {0.03});
  EXPECT_TRUE(verdict_has(verdict_of(synthetic).workloads[0],
                          "not resolved: speed ratio 2.00 (no interval"));
}

TEST(Verdict, TakesTheMostDevicesAtWhichBothMeasured) {
  Synthetic synthetic;
  synthetic.add("dp", 1, {0.06, 0.061}).add("ddp", 1, {0.05, 0.051});
  synthetic.add("dp", 2, {0.03, 0.031}).add("ddp", 2, {0.04, 0.041}).add("dp", 4, {0.02, 0.021});
  const VerdictText verdict = verdict_of(synthetic);
  ASSERT_EQ(verdict.workloads.size(), 1U);
  EXPECT_TRUE(verdict_has(verdict.workloads[0], "2 devices: dp is"));
  EXPECT_EQ(verdict.overall,
            "dp is faster than ddp in the one comparison on 2 devices (1.33 times as fast on "
            "mlp-small, batch 64).");
}

TEST(Verdict, OneDeviceAlone_ClaimsNothing) {
  Synthetic synthetic;
  synthetic.add("dp", 1, {0.06, 0.061}).add("ddp", 1, {0.05, 0.051});
  synthetic.add_without_time("dp", 2, Status::kSkipped, "only 1 core");
  EXPECT_TRUE(verdict_has(verdict_of(synthetic).overall, "Only one device was measured"));
}

TEST(Verdict, Notes_NameMarksReasonsAndWhatIsMissing) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06, 0.061}).add("ddp", 2, {0.05, 0.051});
  synthetic.add_without_time("single", 1, Status::kFailed, "rank lost");
  synthetic.document().launches[0].oversubscribed = true;
  synthetic.document().sweep.planned_cells = 3;
  synthetic.document().sweep.launches_per_cell = 6;
  const VerdictText verdict = verdict_of(synthetic);
  const std::string text = to_text(verdict);
  EXPECT_TRUE(verdict_has(text, "unfinished: 8 of 18 planned launches are missing"));
  EXPECT_TRUE(verdict_has(text, "single/threads/mlp-small/devices:1/batch:64 failed: rank lost"));
  EXPECT_TRUE(verdict_has(text, "! oversubscribed: "));
  EXPECT_TRUE(verdict_has(verdict.workloads[0], "2 devices (oversubscribed): ddp is"));
}

// The note on what figures of GPUs leave out where PyTorch was not measured beside them.
int notes_without_torch(Synthetic& synthetic) {
  const Summary summary = summarize(synthetic.document());
  return static_cast<int>(std::ranges::count_if(
      verdict(synthetic.document(), summary).notes,
      [](const std::string& note) { return note.starts_with("without PyTorch: "); }));
}

TEST(Verdict, BetweenGpusWithoutPyTorch_SaysWhatIsLeftOut) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.2, 0.2}).add("ddp", 2, {0.1, 0.1});
  EXPECT_EQ(notes_without_torch(synthetic), 0);  // a CPU's figures say nothing about GPUs anyway
  for (auto& launch : synthetic.document().launches) launch.cell.backend = "cuda";
  EXPECT_EQ(notes_without_torch(synthetic), 1);
  synthetic.add("ddp", 2, {0.1, 0.1});
  synthetic.document().launches.back().cell.backend = "cuda";
  synthetic.document().launches.back().cell.options["implementation"] = "torch-2.15.0";
  EXPECT_EQ(notes_without_torch(synthetic), 0);
}

TEST(Verdict, CellsAddedLater_AreCountedApartFromTheSweeps) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06, 0.061}).add("ddp", 2, {0.05, 0.051});
  synthetic.document().launches[2].cell.options["grads"] = "views";
  synthetic.document().launches[3].cell.options["grads"] = "views";
  results::SweepInfo& sweep = synthetic.document().sweep;
  sweep.planned_cells = 1;
  sweep.launches_per_cell = 2;
  sweep.additions = {
      {.cells = {synthetic.document().launches[2].cell.name()}, .launches_per_cell = 2}};
  EXPECT_FALSE(verdict_has(to_text(verdict_of(synthetic)), "unfinished"));
  sweep.planned_cells = 2;  // what was added does not stand in for a cell of the sweep
  EXPECT_TRUE(verdict_has(to_text(verdict_of(synthetic)), "2 of 6 planned launches are missing"));
  sweep.additions[0].launches_per_cell = 3;
  EXPECT_TRUE(verdict_has(to_text(verdict_of(synthetic)), "3 of 7 planned launches are missing"));
  sweep.additions[0].cells.emplace_back("not yet measured");
  EXPECT_TRUE(verdict_has(to_text(verdict_of(synthetic)), "6 of 10 planned launches are missing"));
}

TEST(Verdict, SeveralNodes_AreNamedInItsFirstWords_WithTheSkewOfTheirSamples) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06, 0.061}).add("ddp", 2, {0.05, 0.051});
  for (std::size_t launch : {2U, 3U}) {
    results::LaunchRecord& record = synthetic.document().launches[launch];
    record.machine.hosts = {"node1", "node2"};
    record.machine.cores = 4;
    record.barrier_skew_seconds = 20e-6 * static_cast<double>(launch);
    record.barrier_skew_uncertainty_seconds = 7e-6;
  }
  const VerdictText verdict = verdict_of(synthetic);
  EXPECT_EQ(verdict.subject,
            "CPU only: 4 cores of Test CPU on 2 nodes (node1, node2), says nothing about GPUs");
  EXPECT_TRUE(verdict_has(to_text(verdict), "barrier's skew: 60.0 us, known to within 7.0 us"));
}

TEST(Verdict, OneNode_HasNoNoteOnSkew) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06, 0.061}).add("ddp", 2, {0.05, 0.051});
  EXPECT_FALSE(verdict_has(to_text(verdict_of(synthetic)), "several nodes"));
}

TEST(Verdict, NothingMeasured_SaysSo) {
  Synthetic synthetic;
  synthetic.add_without_time("dp", 2, Status::kFailed, "no such program");
  const VerdictText verdict = verdict_of(synthetic);
  EXPECT_EQ(verdict.subject, "Nothing was measured");
  EXPECT_TRUE(verdict_has(verdict.overall, "nothing to compare"));
}

TEST(Verdict, EfficiencyAboveOne_IsFlagged) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.08, 0.081, 0.08}).add("ddp", 2, {0.03, 0.031, 0.03});
  EXPECT_TRUE(verdict_has(to_text(verdict_of(synthetic)), "efficiency above 100 %"));
}

TEST(Verdict, EfficiencyThatMayBeBelowOne_IsNotFlagged) {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.08, 0.05, 0.08}).add("ddp", 2, {0.03, 0.031, 0.03});
  EXPECT_FALSE(verdict_has(to_text(verdict_of(synthetic)), "efficiency above 100 %"));
}

TEST(Verdict, BusyMachine_IsNoted) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06, 0.061});
  synthetic.document().sweep.context.num_cpus = 2;
  synthetic.document().sweep.context.load_avg = {0.9, 3, 3};
  EXPECT_FALSE(verdict_has(to_text(verdict_of(synthetic)), "busy"));
  synthetic.document().sweep.context.load_avg = {3.9, 0, 0};
  EXPECT_TRUE(
      verdict_has(to_text(verdict_of(synthetic)), "load average at the start was 3.9 on 2 CPUs"));
}

TEST(Verdict, ModelledFigures_CarryTheMark) {
  Synthetic synthetic;
  synthetic.add("dp", 2, {0.06, 0.061}).add("ddp", 2, {0.05, 0.051});
  for (auto& record : synthetic.document().launches) record.cell.options["dispatch-cost"] = "8us";
  const VerdictText verdict = verdict_of(synthetic);
  EXPECT_TRUE(verdict_has(verdict.workloads[0], "(modelled: dispatch cost 8us)"));
  EXPECT_TRUE(verdict_has(to_text(verdict), "! modelled: "));
}

}  // namespace
}  // namespace tandem::reports
