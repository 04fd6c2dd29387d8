// SPDX-License-Identifier: Apache-2.0
#include "reports/model/explanation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "reports/render/formats.h"
#include "tests/reports/ladder_samples.h"
#include "tests/reports/whole_text.h"

namespace tandem::reports {
namespace {

using results::LaunchRecord;
using results::Status;

double ms(const Figure& figure) { return figure.seconds->center * 1e3; }

std::vector<double> steps_ms(const Explanation& explanation) {
  std::vector<double> found;
  for (std::size_t i = 1; i < explanation.ladder.size(); ++i) {
    found.push_back(std::round(1e6 * ms(explanation.ladder[i].saves)) / 1e6);
  }
  return found;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Explanation additive() {
  const GapQuestion question = sample_question();
  return explain(ladder_document(question, power_of_two_costs), question, 3);
}

TEST(Explanation, EachCause_IsFoundInItsOwnStep) {
  EXPECT_EQ(steps_ms(additive()), (std::vector<double>{1, 2, 4, 8, 16, 32, 64, 128}));
  EXPECT_NEAR(ms(additive().gap), 255, 1e-9);
  EXPECT_NEAR(ms(additive().stock), 256, 1e-9);
  EXPECT_NEAR(ms(additive().stock_gap), -1, 1e-9);
  EXPECT_NEAR(ms(additive().own_cost), 256, 1e-9);
}

TEST(Explanation, CausesThatAdd_AreWorthTheSameFirstAndLast) {
  const Explanation explanation = additive();
  const std::vector<double> worth{1, 2, 4, 16, 32, 64, 128};
  ASSERT_EQ(explanation.ranges.size(), worth.size());
  for (std::size_t i = 0; i < worth.size(); ++i) {
    EXPECT_NEAR(ms(explanation.ranges[i].first), worth[i], 1e-9) << explanation.ranges[i].cause;
    EXPECT_NEAR(ms(explanation.ranges[i].last), worth[i], 1e-9) << explanation.ranges[i].cause;
  }
  EXPECT_NEAR(ms(explanation.interaction), 0, 1e-9);
}

// Kept threads save 10 ms more where the transfers are a tree already.
double interacting_costs(const results::Cell& cell) {
  const bool both = has_option(cell, "threads", "kept") && has_option(cell, "replicate", "flat");
  return power_of_two_costs(cell) - (both || cell.strategy != "dp" ? 0.010 : 0);
}

TEST(Explanation, Interaction_IsWhatCausesSaveOnlyTogether) {
  const GapQuestion question = sample_question();
  const Explanation explanation =
      explain(ladder_document(question, interacting_costs), question, 3);
  EXPECT_NEAR(ms(explanation.ranges[0].first), 1, 1e-9);
  EXPECT_NEAR(ms(explanation.ranges[0].last), 11, 1e-9);
  EXPECT_NEAR(ms(explanation.ranges[1].last), 12, 1e-9);
  EXPECT_NEAR(ms(explanation.ranges[2].last), 4, 1e-9);
  EXPECT_NEAR(ms(explanation.interaction), 10, 1e-9);
}

TEST(Explanation, StepsSumToTheGap_WhateverTheTimes) {
  const GapQuestion question = sample_question();
  const auto odd = [](const results::Cell& cell) {
    return 0.1 + 1e-4 * static_cast<double>(std::hash<std::string>{}(cell.name()) % 1000);
  };
  const Explanation explanation = explain(ladder_document(question, odd, 0.003), question, 3);
  const std::vector<double> steps = steps_ms(explanation);
  EXPECT_NEAR(std::accumulate(steps.begin(), steps.end(), 0.0), ms(explanation.gap), 1e-4);
}

TEST(Explanation, IntervalThatHoldsZero_IsNotResolved) {
  const GapQuestion question = sample_question();
  const Explanation explanation =
      explain(ladder_document(question, power_of_two_costs, 0.002), question, 3);
  ASSERT_TRUE(explanation.ladder[1].saves.seconds->interval->holds(0));   // 1 ms
  ASSERT_FALSE(explanation.ladder[8].saves.seconds->interval->holds(0));  // 128 ms
  const auto ladder = std::get<Section>(tree_of(explanation).blocks.at(6).content);
  const auto rows = std::get<Table>(ladder.blocks.at(0).content).table.rows;
  EXPECT_EQ(rows[1][4], "not resolved");
  EXPECT_EQ(rows[8][4], "");
  EXPECT_EQ(rows[1][3], "~");
  EXPECT_EQ(rows[8][3], "################");
}

TEST(Explanation, MissingRung_LeavesItsStepsWithoutAFigure_AndSaysWhy) {
  const GapQuestion question = sample_question();
  results::Document document = ladder_document(question, power_of_two_costs);
  for (LaunchRecord& record : document.launches) {
    if (!has_option(record.cell, "overlap", "off") || record.cell.options.size() != 2) continue;
    record.status = Status::kFailed;
    record.reason = "rank lost";
  }
  const Explanation explanation = explain(document, question, 3);
  EXPECT_FALSE(explanation.ladder[6].saves.seconds);
  EXPECT_FALSE(explanation.ladder[7].saves.seconds);
  EXPECT_EQ(explanation.ladder[6].saves.missing, "buckets failed");
  EXPECT_NEAR(ms(explanation.gap), 255, 1e-9);
  EXPECT_TRUE(has(whole_text(explanation), "failed: rank lost"));
}

TEST(Explanation, FailedLaunchesOfAMeasuredRung_StandBesideTheOthers) {
  const GapQuestion question = sample_question();
  results::Document document = ladder_document(question, power_of_two_costs);
  document.launches.front().status = Status::kFailed;
  const Explanation explanation = explain(document, question, 3);
  EXPECT_EQ(explanation.ladder.front().failed_launches, 1);
  EXPECT_TRUE(has(whole_text(explanation),
                  std::to_string(explanation.ladder.front().launches) + " (1 failed)"));
}

TEST(Explanation, OtherPoints_AreLeftOut) {
  const GapQuestion question = sample_question();
  results::Document document = ladder_document(question, power_of_two_costs);
  GapQuestion other = question;
  other.batch = 128;
  const auto slow = [](const results::Cell&) { return 9.0; };
  for (const LaunchRecord& record : ladder_document(other, slow).launches) {
    document.launches.push_back(record);
  }
  LaunchRecord free_running = document.launches.front();
  free_running.mode = "free-running";
  free_running.step_seconds = {7};
  document.launches.push_back(free_running);
  EXPECT_EQ(steps_ms(explain(document, question, 3)), steps_ms(additive()));
}

TEST(Explanation, HardwareComesFirst) {
  EXPECT_TRUE(
      whole_text(additive()).starts_with("CPU only: 2 cores of Test CPU, says nothing about"));
}

TEST(Explanation, RungsOfAnotherPlan_AreSaidNotToBeInterleaved) {
  const GapQuestion question = sample_question();
  results::Document document = ladder_document(question, power_of_two_costs);
  document.sweep.name = "quick";
  results::Addition addition{.cells = {}, .launches_per_cell = 3};
  for (const RungCell& rung : ladder_cells(question)) {
    if (!rung.cell.options.empty()) addition.cells.push_back(rung.cell.name());
  }
  document.sweep.additions = {addition};
  EXPECT_TRUE(has(whole_text(explain(document, question, 3)),
                  "not interleaved: 3 of 20 rungs were there from the sweep 'quick' and were not "
                  "interleaved with the 17 measured later"));
  EXPECT_FALSE(has(whole_text(additive()), "not interleaved"));
}

double modelled_costs(const results::Cell& cell) {
  const double cost = cell.options.contains("dispatch-cost") ? 0.003 : 0;
  return power_of_two_costs(cell) + cost * (cell.strategy == "dp" ? 2 : 1) +
         (has_option(cell, "interpreter-lock", "on") ? 0.005 : 0);
}

TEST(Explanation, DispatchCostAndLock_AreAChartOfTheirOwn) {
  GapQuestion question = sample_question();
  question.dispatch_cost = "8us";
  question.interpreter_lock = true;
  const Explanation explanation = explain(ladder_document(question, modelled_costs), question, 3);
  EXPECT_EQ(steps_ms(explanation), steps_ms(additive()));
  ASSERT_EQ(explanation.modelled.size(), 3U);
  EXPECT_NEAR(ms(explanation.modelled[0].figure), 6, 1e-9);
  EXPECT_NEAR(ms(explanation.modelled[1].figure), 3, 1e-9);
  EXPECT_NEAR(ms(explanation.modelled[2].figure), 5, 1e-9);
  EXPECT_TRUE(has(whole_text(explanation), "Modelled, no part of the measured gap"));
}

TEST(Explanation, NothingMeasured_SaysSo) {
  const Explanation explanation = explain({}, sample_question(), 3);
  EXPECT_EQ(explanation.subject, "Nothing was measured");
  EXPECT_TRUE(has(whole_text(explanation), "no figure, for dp not run"));
}

GapQuestion module_question() {
  GapQuestion question = sample_question();
  question.model = "own.workload.json#12";
  question.implementation = "torch-9.9.9";
  question.implementation_has_dp = true;
  question.module = "own.py:build#34";
  return question;
}

// PyTorch takes twice as long alone, three times in ddp, and as long in dp.
double costs_of_two_sides(const results::Cell& cell) {
  const bool is_theirs = cell.model == "own.py:build#34";
  if (!is_theirs || cell.strategy == "dp") return 1e-3;
  return cell.strategy == "single" ? 2e-3 : 3e-3;
}

TEST(Explanation, ModuleAndItsExport_AreComparedEndByEnd) {
  const GapQuestion question = module_question();
  const Explanation explanation =
      explain(ladder_document(question, costs_of_two_sides), question, 3);
  ASSERT_EQ(explanation.agreement.size(), 3U);
  const std::vector<std::string> ends{"ddp", "dp", "single, a share"};
  const std::vector<double> ratios{3, 1, 2};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    EXPECT_EQ(explanation.agreement[i].end, ends[i]);
    EXPECT_NEAR(explanation.agreement[i].ratio->center, ratios[i], 1e-9) << ends[i];
  }
  EXPECT_NEAR(*farthest_apart(explanation.agreement), 3, 1e-9);
  EXPECT_TRUE(has(whole_text(explanation), "All ends agree within a factor of 3.00"));
  EXPECT_TRUE(
      has(whole_text(explanation), "own.py:build#34, of which Tandem trains the export own."));
}

TEST(Explanation, TandemFaster_IsAsFarApartAsTandemSlower) {
  const GapQuestion question = module_question();
  const auto quarter = [](const results::Cell& cell) {
    return cell.model == "own.py:build#34" ? 1e-3 : 4e-3;
  };
  const Explanation explanation = explain(ladder_document(question, quarter), question, 3);
  EXPECT_NEAR(*farthest_apart(explanation.agreement), 4, 1e-9);
}

TEST(Explanation, EndThatFailed_HasNoRatio_AndSaysWhy) {
  const GapQuestion question = module_question();
  results::Document document = ladder_document(question, costs_of_two_sides);
  for (LaunchRecord& record : document.launches) {
    if (record.cell.model == question.module && record.cell.strategy == "ddp") {
      record.status = Status::kFailed;
    }
  }
  const Explanation explanation = explain(document, question, 3);
  EXPECT_FALSE(explanation.agreement[0].ratio);
  EXPECT_EQ(explanation.agreement[0].missing, "their ddp failed");
  EXPECT_FALSE(farthest_apart(explanation.agreement));
  EXPECT_TRUE(has(whole_text(explanation), "How far all ends agree has no figure"));
}

TEST(Explanation, WithoutAnotherImplementation_ThereIsNoAgreement) {
  EXPECT_TRUE(additive().agreement.empty());
}

TEST(Explanation, LadderWithAnotherOptimizer_IsExplainedInAReport_AndNamesIt) {
  GapQuestion question = sample_question();
  question.optimizer = "adamw";
  const results::Document document = ladder_document(question, power_of_two_costs);
  const std::vector<Explanation> points = explained_points(document, summarize(document));
  ASSERT_EQ(points.size(), 1U);
  EXPECT_NEAR(ms(points[0].gap), 255, 1e-9);
  EXPECT_TRUE(has(whole_text(points[0]), "optimizer adamw"));
}

}  // namespace
}  // namespace tandem::reports
