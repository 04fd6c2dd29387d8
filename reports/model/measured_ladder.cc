// SPDX-License-Identifier: Apache-2.0
#include "reports/model/measured_ladder.h"

#include <algorithm>

#include "common/stats/estimate.h"
#include "common/stats/summary.h"

namespace tandem::reports {
namespace {

using results::LaunchRecord;
using results::Status;

bool fits(const LaunchRecord& record, const results::Cell& cell) {
  // A failed launch may not know the back end that `auto` came to.
  const bool same_backend =
      cell.backend == "auto" || record.cell.backend == cell.backend || record.status != Status::kOk;
  return same_backend && record.mode == "synchronous" && record.cell.name() == cell.name();
}

MeasuredLadder::Launches launches_of(const RungCell& rung, const results::Document& document) {
  MeasuredLadder::Launches launches{
      .rung = rung, .measured = {}, .failed = 0, .problem = "not run"};
  for (const LaunchRecord& record : document.launches) {
    if (!fits(record, rung.cell)) continue;
    if (record.status == Status::kOk) {
      launches.measured.push_back(&record);
    } else {
      launches.problem = to_string(record.status);
      launches.failed += record.status == Status::kFailed ? 1 : 0;
    }
  }
  return launches;
}

}  // namespace

Weights minus(Rung a, Rung b) { return {{a, 1}, {b, -1}}; }

void add(Weights& weights, const Weights& more, double factor) {
  for (const auto& [rung, weight] : more) weights[rung] += factor * weight;
}

MeasuredLadder::MeasuredLadder(const results::Document& document, const GapQuestion& question) {
  for (const RungCell& rung : ladder_cells(question)) {
    rungs_.push_back(launches_of(rung, document));
  }
}

const MeasuredLadder::Launches* MeasuredLadder::find(Rung rung) const {
  const auto found = std::find_if(rungs_.begin(), rungs_.end(), [&](const Launches& launches) {
    return launches.rung.rung == rung;
  });
  return found == rungs_.end() ? nullptr : &*found;
}

bool MeasuredLadder::has(Rung rung) const {
  const Launches* launches = find(rung);
  return launches != nullptr && !launches->measured.empty();
}

Figure MeasuredLadder::sum(const Weights& weights) const {
  std::vector<std::vector<double>> means;
  std::vector<double> factors;
  for (const auto& [rung, weight] : weights) {
    if (weight == 0) continue;
    if (!has(rung)) {
      const Launches* launches = find(rung);
      if (launches == nullptr) return {.seconds = {}, .missing = "not asked for"};
      return {.seconds = {}, .missing = launches->rung.label + " " + launches->problem};
    }
    means.push_back(values(rung, mean_step));
    factors.push_back(weight);
  }
  std::vector<stats::Term> terms;
  for (std::size_t i = 0; i < means.size(); ++i) {
    terms.push_back({.weight = factors[i], .launch_means = means[i]});
  }
  return {.seconds = stats::weighted_sum(terms), .missing = {}};
}

std::vector<double> MeasuredLadder::values(Rung rung, const Value& value) const {
  std::vector<double> found;
  const Launches* launches = find(rung);
  if (launches == nullptr) return found;
  for (const LaunchRecord* record : launches->measured) found.push_back(value(*record));
  return found;
}

double mean_step(const LaunchRecord& record) { return stats::mean(record.step_seconds); }

}  // namespace tandem::reports
