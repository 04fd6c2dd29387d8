// SPDX-License-Identifier: Apache-2.0
#include "reports/model/ddp_cost.h"

#include <algorithm>
#include <string>

#include "common/options/strategies.h"
#include "common/stats/summary.h"
#include "reports/model/ladder.h"
#include "reports/model/phases.h"
#include "reports/model/subject.h"

namespace tandem::reports {

namespace {

using enum options::StrategyKind;

using results::DevicePhases;
using results::LaunchRecord;

using CellLaunches = std::vector<const LaunchRecord*>;

double compute(const DevicePhases& device) {
  return phase_seconds(device, "forward") + phase_seconds(device, "backward");
}

double exposed(const DevicePhases& device) { return phase_seconds(device, "exposed_comm"); }

double least_exposed(const LaunchRecord& record) { return record.least_exposed_seconds; }

double least_compute(const LaunchRecord& record) { return record.least_compute_seconds; }

// The later of two ranks computes longer and the other rank waits for the late one: either way the
// critical rank's sum of both is longer than among equal ranks.
double skew(const LaunchRecord& record) {
  const DevicePhases& critical = *critical_device(record);
  return compute(critical) + exposed(critical) - least_compute(record) - least_exposed(record);
}

double copies(const LaunchRecord& record) {
  return phase_seconds(*critical_device(record), "bucket_copy");
}

double rest(const LaunchRecord& record) {
  const DevicePhases& critical = *critical_device(record);
  return mean_step(record) - compute(critical) - copies(record) - exposed(critical);
}

bool compute_the_same(const CellSummary& a, const CellSummary& b) {
  return same_point(a, b) && a.cell.launch == b.cell.launch &&
         a.cell.option("accumulate") == b.cell.option("accumulate");
}

// The cell of independent ranks to compare with; where several fit, the one with the fewest
// options.
const CellSummary* independent_of(const CellSummary& ddp, const Summary& summary) {
  const CellSummary* best = nullptr;
  for (const CellSummary& other : of_same_workload(summary.cells, ddp.cell)) {
    if (other.cell.strategy != name_of(kIndependent) || other.launches == 0) continue;
    if (!compute_the_same(ddp, other)) continue;
    const bool plainer = best == nullptr || other.cell.options.size() < best->cell.options.size();
    if (plainer) best = &other;
  }
  return best;
}

}  // namespace

std::optional<OwnCosts> own_costs(const CellLaunches& ddp, const CellLaunches& independent) {
  if (!have_phases(ddp) || !have_phases(independent)) return std::nullopt;
  const auto more = [&](const OfLaunch& value) { return difference(ddp, independent, value); };
  // ddp alone has these parts: independent ranks neither communicate nor have buckets.
  const auto own = [&](const OfLaunch& value) { return sum_over({{.launches = ddp}}, value); };
  return OwnCosts{.exposed_transfer = own(least_exposed),
                  .skew = more(skew),
                  .contention = more(least_compute),
                  .bucket_copies = own(copies),
                  .rest = more(rest)};
}

std::vector<DdpCost> ddp_costs(const Summary& summary) {
  std::vector<DdpCost> costs;
  for (const CellSummary& cell : summary.cells) {
    if (cell.cell.strategy != name_of(kDdp) || cell.launches == 0) continue;
    const CellSummary* independent = independent_of(cell, summary);
    if (independent == nullptr) continue;
    const bool is_own = implementation_of(cell.cell).empty();
    costs.push_back(
        {.ddp = &cell,
         .independent = independent,
         .share = ratio_of(*independent, cell),
         .missing = difference(cell.measured, independent->measured, mean_step),
         .parts = is_own ? own_costs(cell.measured, independent->measured) : std::nullopt});
  }
  return costs;
}

}  // namespace tandem::reports
