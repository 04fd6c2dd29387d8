// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "common/options/strategies.h"
#include "reports/model/explanation.h"
#include "reports/model/phases.h"
#include "tests/reports/cost_samples.h"
#include "tests/reports/ladder_samples.h"

namespace tandem::reports {
namespace {

using results::DevicePhases;
using results::LaunchRecord;

// Phases of one sample: the critical device is the root where there is one, else the slowest.
void add_phases(LaunchRecord& record, std::vector<DevicePhases> phases) {
  if (phases.empty()) return;
  const auto least = [&](const auto& of) {
    return std::ranges::min(phases | std::views::transform(of));
  };
  const bool has_root = options::has_root(record.cell.strategy);
  record.critical =
      has_root ? phases.front() : std::ranges::max(phases, {}, &DevicePhases::span_seconds);
  record.least_exposed_seconds =
      least([](const auto& one) { return phase_seconds(one, "exposed_comm"); });
  record.least_compute_seconds = least([](const auto& one) {
    return phase_seconds(one, "forward") + phase_seconds(one, "backward");
  });
  record.phases = std::move(phases);
}

// A step of 20 ms; phases by cell.
results::Document document_with(
    const std::function<std::vector<DevicePhases>(const results::Cell&)>& phases) {
  results::Document document =
      ladder_document(sample_question(), [](const results::Cell&) { return 0.020; });
  for (LaunchRecord& record : document.launches) add_phases(record, phases(record.cell));
  return document;
}

std::map<std::string, double> by_cause(const std::vector<Effect>& effects) {
  std::map<std::string, double> found;
  for (const Effect& effect : effects) found[effect.cause] = effect.figure.seconds->center * 1e3;
  return found;
}

double sum_of(const std::vector<Effect>& effects) {
  double sum = 0;
  for (const auto& [cause, ms] : by_cause(effects)) sum += ms;
  return sum;
}

std::vector<DevicePhases> dp_or_allreduce(const results::Cell& cell) {
  if (cell.strategy == "dp") {
    return {device(0, {{"replicate", 3}, {"forward", 5}, {"reduce", 4}, {"update", 2}}),
            device(1, {{"forward", 15}})};  // longer, but dp's root is the critical one
  }
  return {device(0, {{"forward", 5}, {"exposed_comm", 1.5}, {"update", 2.5}}),
          device(1, {{"forward", 1}})};
}

TEST(PhaseEffects, Replication_IsSplitByPhase_AndSumsToTheStep) {
  const results::Document document = document_with(dp_or_allreduce);
  const std::vector<Effect> effects = explain(document, sample_question(), 3).replication;
  const auto causes = by_cause(effects);
  EXPECT_NEAR(causes.at("replicate"), 3, 1e-9);
  EXPECT_NEAR(causes.at("reduce, against exposed all-reduce"), 2.5, 1e-9);
  EXPECT_NEAR(causes.at("update"), -0.5, 1e-9);
  EXPECT_NEAR(causes.at("forward"), 0, 1e-9);
  EXPECT_NEAR(causes.at("in no phase"), 6 - 11, 1e-9);
  EXPECT_NEAR(sum_of(effects), 0, 1e-9);  // both take 20 ms
}

// Device 1 is late: it computes longer and so has less exposed communication.
std::vector<DevicePhases> late_rank(const results::Cell& cell) {
  if (cell.strategy == "independent") {
    return {device(0, {{"forward", 4}, {"backward", 6}}),
            device(1, {{"forward", 4}, {"backward", 6}})};
  }
  return {device(0, {{"forward", 5}, {"backward", 7}, {"bucket_copy", 1}, {"exposed_comm", 3.5}}),
          device(1, {{"forward", 5}, {"backward", 10}, {"bucket_copy", 1}, {"exposed_comm", 1}})};
}

TEST(PhaseEffects, OwnCosts_OfALateRank_AreSkew_AndNoContention) {
  const results::Document document = document_with(late_rank);
  const std::vector<Effect> effects = explain(document, sample_question(), 3).own_costs;
  const auto causes = by_cause(effects);
  EXPECT_NEAR(causes.at("exposed transfer (least of all ranks)"), 1, 1e-9);
  EXPECT_NEAR(causes.at("skew (one rank later than the others)"), 3, 1e-9);
  EXPECT_NEAR(causes.at("contention (forward and backward slowed, least of all ranks)"), 2, 1e-9);
  EXPECT_NEAR(causes.at("bucket copies"), 1, 1e-9);
  EXPECT_NEAR(sum_of(effects), 0, 1e-9);
}

TEST(PhaseEffects, RankThatIsLateOnItsOwnToo_IsNoCostOfDdp) {
  const results::Document document = document_with([](const results::Cell& cell) {
    std::vector<DevicePhases> phases = late_rank(cell);
    if (cell.strategy == "independent") phases[1].mean_seconds["backward"] += 3e-3;
    if (cell.strategy == "independent") phases[1].span_seconds += 3e-3;
    return phases;
  });
  const std::vector<Effect> effects = explain(document, sample_question(), 3).own_costs;
  EXPECT_NEAR(by_cause(effects).at("skew (one rank later than the others)"), 0, 1e-9);
  EXPECT_NEAR(sum_of(effects), 0, 1e-9);
}

TEST(PhaseEffects, OwnCosts_TakeTheLeastOfEachSample_WhereARecordHasIt) {
  results::Document document = document_with(late_rank);
  for (LaunchRecord& record : document.launches) {
    record.critical = record.phases.back();
    record.least_exposed_seconds = record.cell.strategy == "independent" ? 0 : 0.5e-3;
    record.least_compute_seconds = 9e-3;
  }
  const std::vector<Effect> effects = explain(document, sample_question(), 3).own_costs;
  const auto causes = by_cause(effects);
  EXPECT_NEAR(causes.at("exposed transfer (least of all ranks)"), 0.5, 1e-9);
  EXPECT_NEAR(causes.at("skew (one rank later than the others)"), (16 - 9.5) - (10 - 9), 1e-9);
  EXPECT_NEAR(causes.at("contention (forward and backward slowed, least of all ranks)"), 0, 1e-9);
  EXPECT_NEAR(sum_of(effects), 0, 1e-9);
}

TEST(PhaseEffects, WithoutPhases_ThereAreNone) {
  const results::Document document =
      document_with([](const results::Cell&) { return std::vector<DevicePhases>{}; });
  const Explanation explanation = explain(document, sample_question(), 3);
  EXPECT_TRUE(explanation.replication.empty());
  EXPECT_TRUE(explanation.own_costs.empty());
}

}  // namespace
}  // namespace tandem::reports
