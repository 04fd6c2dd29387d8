// SPDX-License-Identifier: Apache-2.0
#include "reports/model/phase_effects.h"

#include <set>
#include <string>

#include "common/stats/estimate.h"
#include "reports/model/own_costs.h"
#include "reports/model/phases.h"

namespace tandem::reports {
namespace {

using results::LaunchRecord;

// The mean seconds of a phase on the critical device.
double phase(const LaunchRecord& record, const std::string& name) {
  return phase_seconds(*critical_device(record), name);
}

double in_no_phase(const LaunchRecord& record) {
  double rest = mean_step(record);
  for (const auto& [name, seconds] : critical_device(record)->mean_seconds) rest -= seconds;
  return rest;
}

bool has_phases(const MeasuredLadder& ladder, Rung rung) {
  return ladder.has(rung) && have_phases(ladder.find(rung)->measured);
}

std::set<std::string> phase_names(const MeasuredLadder& ladder, Rung rung) {
  std::set<std::string> names;
  for (const LaunchRecord* record : ladder.find(rung)->measured) {
    for (const auto& [name, seconds] : critical_device(*record)->mean_seconds) names.insert(name);
  }
  return names;
}

Figure difference(const std::vector<double>& a, const std::vector<double>& b) {
  return {.seconds = stats::difference_of_means(a, b), .missing = {}};
}

}  // namespace

std::vector<Effect> replication_by_phase(const MeasuredLadder& ladder) {
  const Rung above = Rung::kLossInReplicas;
  const Rung below = Rung::kAllReduce;
  if (!has_phases(ladder, above) || !has_phases(ladder, below)) return {};
  std::set<std::string> names = phase_names(ladder, above);
  names.merge(phase_names(ladder, below));
  names.erase("exposed_comm");
  names.insert("reduce");
  std::vector<Effect> effects;
  for (const std::string& name : in_step_order({names.begin(), names.end()})) {
    const bool reduces = name == "reduce";
    const auto value = [&](const LaunchRecord& record) {
      return phase(record, name) + (reduces ? phase(record, "exposed_comm") : 0);
    };
    effects.push_back(
        {.cause = reduces ? "reduce, against exposed all-reduce" : name,
         .figure = difference(ladder.values(above, value), ladder.values(below, value))});
  }
  effects.push_back(
      {.cause = "in no phase",
       .figure = difference(ladder.values(above, in_no_phase), ladder.values(below, in_no_phase))});
  return effects;
}

std::vector<Effect> own_costs_of_ddp(const MeasuredLadder& ladder) {
  if (!ladder.has(Rung::kStockDdp) || !ladder.has(Rung::kIndependent)) return {};
  const std::optional<OwnCosts> costs =
      own_costs(ladder.find(Rung::kStockDdp)->measured, ladder.find(Rung::kIndependent)->measured);
  if (!costs) return {};
  const auto effect = [](const char* cause, const stats::Estimate& seconds) {
    return Effect{.cause = cause, .figure = {.seconds = seconds, .missing = {}}};
  };
  return {effect("exposed transfer (least of all ranks)", costs->exposed_transfer),
          effect("skew (one rank later than the others)", costs->skew),
          effect("contention (forward and backward slowed, least of all ranks)", costs->contention),
          effect("bucket copies", costs->bucket_copies),
          effect("rest (input, loss, update, in no phase)", costs->rest)};
}

}  // namespace tandem::reports
