// SPDX-License-Identifier: Apache-2.0
#include "reports/model/communication.h"

#include <algorithm>
#include <numeric>

#include "common/options/strategies.h"
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

// The cell of independent ranks to compare with, in as many micro-batches; where several fit, the
// one with the fewest options.
const CellSummary* independent_of(const CellSummary& ddp, const Summary& summary) {
  const CellSummary* best = nullptr;
  for (const CellSummary& other : of_same_workload(summary.cells, ddp.cell)) {
    if (other.cell.strategy != name_of(kIndependent) || other.launches == 0) continue;
    if (!same_point(ddp, other) || ddp.cell.launch != other.cell.launch ||
        ddp.cell.option("accumulate") != other.cell.option("accumulate")) {
      continue;
    }
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

namespace {

using results::CollectiveRecord;
using results::LaunchRecord;

std::vector<std::int64_t> layout_of(const LaunchRecord& record) {
  std::vector<std::int64_t> bytes;
  for (const CollectiveRecord& collective : record.collectives) bytes.push_back(collective.bytes);
  return bytes;
}

bool is_usable(const LaunchRecord& record) {
  return !record.collectives.empty() && critical_device(record) != nullptr &&
         std::ranges::none_of(record.collectives, [](const CollectiveRecord& collective) {
           return collective.mean_seconds.empty();
         });
}

// The usable launches with the first one's buckets, since figures of other buckets do not mix.
std::vector<const LaunchRecord*> launches_alike(const CellSummary& cell) {
  std::vector<const LaunchRecord*> alike;
  for (const LaunchRecord* record : cell.measured) {
    if (!is_usable(*record)) continue;
    if (alike.empty() || layout_of(*record) == layout_of(*alike.front())) alike.push_back(record);
  }
  return alike;
}

double total_seconds(const LaunchRecord& record) {
  double sum = 0;
  for (const CollectiveRecord& collective : record.collectives) sum += collective.least_seconds;
  return sum;
}

template <class Value>
stats::Estimate mean_over(const std::vector<const LaunchRecord*>& launches, Value value) {
  std::vector<double> values;
  for (const LaunchRecord* record : launches) values.push_back(value(*record));
  return stats::center_of_means(values);
}

int ranks_of(const CellSummary& cell) {
  return cell.devices_used > 0 ? cell.devices_used : cell.cell.devices;
}

CommunicationTimes times_of(const CellSummary& cell,
                            const std::vector<const LaunchRecord*>& launches) {
  CommunicationTimes times{.cell = &cell,
                           .bucket_bytes = layout_of(*launches.front()),
                           .left_out = static_cast<int>(cell.measured.size() - launches.size()),
                           .total = mean_over(launches, total_seconds),
                           .exposed = mean_over(launches, [](const auto& record) {
                             return record.least_exposed_seconds;
                           })};
  const bool all_took_time = std::ranges::all_of(
      launches, [](const LaunchRecord* record) { return total_seconds(*record) > 0; });
  if (!all_took_time) return times;
  times.hidden_share = mean_over(launches, [](const LaunchRecord& record) {
    return 1 - record.least_exposed_seconds / total_seconds(record);
  });
  return times;
}

}  // namespace

std::int64_t CommunicationTimes::size_bytes() const {
  return std::accumulate(bucket_bytes.begin(), bucket_bytes.end(), std::int64_t{0});
}

std::vector<CommunicationTimes> communication_times(const Summary& summary) {
  std::vector<CommunicationTimes> found;
  for (const CellSummary& cell : summary.cells) {
    if (ranks_of(cell) < 2) continue;
    const std::vector<const LaunchRecord*> launches = launches_alike(cell);
    if (!launches.empty()) found.push_back(times_of(cell, launches));
  }
  return found;
}

}  // namespace tandem::reports
