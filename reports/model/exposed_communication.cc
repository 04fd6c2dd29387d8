// SPDX-License-Identifier: Apache-2.0
#include "reports/model/exposed_communication.h"

#include <algorithm>
#include <numeric>

#include "reports/model/phases.h"

namespace tandem::reports {
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

std::vector<BucketTime> buckets_of(const std::vector<const LaunchRecord*>& launches) {
  std::vector<BucketTime> buckets;
  for (std::size_t i = 0; i < launches.front()->collectives.size(); ++i) {
    const auto seconds = [i](const LaunchRecord& record) {
      return record.collectives[i].least_seconds;
    };
    buckets.push_back(
        {.bytes = launches.front()->collectives[i].bytes, .seconds = mean_over(launches, seconds)});
  }
  return buckets;
}

int ranks_of(const CellSummary& cell) {
  return cell.devices_used > 0 ? cell.devices_used : cell.cell.devices;
}

CommunicationTimes times_of(const CellSummary& cell,
                            const std::vector<const LaunchRecord*>& launches) {
  CommunicationTimes times{
      .cell = &cell,
      .ranks = ranks_of(cell),
      .buckets = buckets_of(launches),
      .left_out = static_cast<int>(cell.measured.size() - launches.size()),
      .total = mean_over(launches, total_seconds),
      .exposed =
          mean_over(launches, [](const auto& record) { return record.least_exposed_seconds; }),
      .hidden_share = {}};
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
  return std::accumulate(
      buckets.begin(), buckets.end(), std::int64_t{0},
      [](std::int64_t sum, const BucketTime& bucket) { return sum + bucket.bytes; });
}

double CommunicationTimes::after_backward_share() const {
  const auto backward = std::ranges::find_if(
      cell->phases, [](const PhaseMean& phase) { return phase.name == "backward"; });
  if (backward == cell->phases.end() || total.center <= 0) return last_share();
  return std::max(last_share(), 1 - backward->seconds / total.center);
}

double CommunicationTimes::last_share() const {
  if (size_bytes() == 0) return 0;
  return static_cast<double>(buckets.back().bytes) / static_cast<double>(size_bytes());
}

double algorithm_bandwidth(const BucketTime& bucket) {
  if (bucket.seconds.center <= 0) return 0;
  return static_cast<double>(bucket.bytes) / bucket.seconds.center;
}

double bus_bandwidth(const BucketTime& bucket, int ranks) {
  return algorithm_bandwidth(bucket) * 2 * (ranks - 1) / ranks;
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
