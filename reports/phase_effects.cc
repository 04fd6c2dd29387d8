// SPDX-License-Identifier: Apache-2.0
#include "reports/phase_effects.h"

#include <algorithm>
#include <set>
#include <string>

#include "common/stats/weighted_sum.h"
#include "reports/phases.h"

namespace tandem::reports {
namespace {

using results::LaunchRecord;

double phase(const results::DevicePhases& device, const std::string& name) {
  const auto found = device.mean_seconds.find(name);
  return found == device.mean_seconds.end() ? 0 : found->second;
}

// Of the critical device.
double phase(const LaunchRecord& record, const std::string& name) {
  return phase(*critical_device(record), name);
}

double in_no_phase(const LaunchRecord& record) {
  double rest = mean_step(record);
  for (const auto& [name, seconds] : critical_device(record)->mean_seconds) rest -= seconds;
  return rest;
}

bool has_phases(const MeasuredLadder& ladder, Rung rung) {
  if (!ladder.has(rung)) return false;
  const auto& measured = ladder.find(rung)->measured;
  return std::none_of(measured.begin(), measured.end(),
                      [](const LaunchRecord* record) { return record->phases.empty(); });
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

Figure mean_of(const std::vector<double>& values) {
  return {.seconds = stats::center_of_means(values), .missing = {}};
}

double compute(const results::DevicePhases& device) {
  return phase(device, "forward") + phase(device, "backward");
}

double exposed(const results::DevicePhases& device) { return phase(device, "exposed_comm"); }

using OfDevice = double (*)(const results::DevicePhases&);

double least(const LaunchRecord& record, OfDevice value) {
  double found = value(record.phases.front());
  for (const results::DevicePhases& device : record.phases) found = std::min(found, value(device));
  return found;
}

double least_exposed(const LaunchRecord& record) { return least(record, exposed); }

double least_compute(const LaunchRecord& record) { return least(record, compute); }

// Of two ranks, the late one computes longer and the other one waits for it: either way the
// critical rank's sum of both is longer than it would be among equals.
double skew(const LaunchRecord& record) {
  const results::DevicePhases& critical = *critical_device(record);
  return compute(critical) + exposed(critical) - least_compute(record) - least_exposed(record);
}

double copies(const LaunchRecord& record) { return phase(record, "bucket_copy"); }

double rest(const LaunchRecord& record) {
  const results::DevicePhases& critical = *critical_device(record);
  return mean_step(record) - compute(critical) - copies(record) - exposed(critical);
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
  const Rung ddp = Rung::kStockDdp;
  const Rung bound = Rung::kIndependent;
  if (!has_phases(ladder, ddp) || !has_phases(ladder, bound)) return {};
  return {{.cause = "exposed transfer (least of all ranks)",
           .figure = mean_of(ladder.values(ddp, least_exposed))},
          {.cause = "skew (one rank later than the others)",
           .figure = difference(ladder.values(ddp, skew), ladder.values(bound, skew))},
          {.cause = "contention (forward and backward slowed, least of all ranks)",
           .figure =
               difference(ladder.values(ddp, least_compute), ladder.values(bound, least_compute))},
          {.cause = "bucket copies", .figure = mean_of(ladder.values(ddp, copies))},
          {.cause = "rest (input, loss, update, in no phase)",
           .figure = difference(ladder.values(ddp, rest), ladder.values(bound, rest))}};
}

}  // namespace tandem::reports
