// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "common/base/units.h"
#include "reports/format.h"
#include "reports/model/ddp_cost.h"
#include "reports/model/figure_text.h"
#include "reports/model/phases.h"

namespace tandem::reports {
namespace {

using Align = Table::Align;
using results::CollectiveRecord;
using results::LaunchRecord;

std::vector<std::int64_t> layout_of(const LaunchRecord& record) {
  std::vector<std::int64_t> bytes;
  for (const CollectiveRecord& collective : record.collectives) bytes.push_back(collective.bytes);
  return bytes;
}

bool is_usable(const LaunchRecord& record) {
  return !record.collectives.empty() && critical_device(record) != nullptr &&
         std::none_of(
             record.collectives.begin(), record.collectives.end(),
             [](const CollectiveRecord& collective) { return collective.mean_seconds.empty(); });
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

CollectiveTimes times_of(const CellSummary& cell,
                         const std::vector<const LaunchRecord*>& launches) {
  CollectiveTimes times{.cell = &cell,
                        .ranks = ranks_of(cell),
                        .buckets = buckets_of(launches),
                        .left_out = static_cast<int>(cell.measured.size() - launches.size()),
                        .total = mean_over(launches, total_seconds),
                        .exposed = mean_over(launches, least_exposed),
                        .hidden_share = {}};
  const bool all_took_time =
      std::all_of(launches.begin(), launches.end(),
                  [](const LaunchRecord* record) { return total_seconds(*record) > 0; });
  if (!all_took_time) return times;
  times.hidden_share = mean_over(launches, [](const LaunchRecord& record) {
    return 1 - least_exposed(record) / total_seconds(record);
  });
  return times;
}

// Clips the interval to [0, most], where the centre lies: a t interval may reach beyond that range.
stats::Estimate clipped(stats::Estimate estimate, double most) {
  if (!estimate.interval) return estimate;
  if (estimate.center >= 0) estimate.interval->low = std::max(estimate.interval->low, 0.0);
  if (estimate.center <= most) estimate.interval->high = std::min(estimate.interval->high, most);
  return estimate;
}

std::string percent_text(const stats::Estimate& whole) {
  const stats::Estimate share = clipped(whole, 1);
  std::string text = fmt::format("{:.1f} %", 100 * share.center);
  if (!share.interval) return text;
  return text +
         fmt::format(" [{:.1f} .. {:.1f}]", 100 * share.interval->low, 100 * share.interval->high);
}

std::string milliseconds(const stats::Estimate& seconds) {
  constexpr double kNoMost = std::numeric_limits<double>::infinity();
  return milliseconds_text({.seconds = clipped(seconds, kNoMost), .missing = {}});
}

std::string gigabytes(double bytes_per_second) {
  return bytes_per_second > 0 ? fmt::format("{:.2f}", bytes_per_second / 1e9) : "-";
}

std::string remarks(const CollectiveTimes& times) {
  std::vector<std::string> marks = marks_of(*times.cell);
  if (times.cell->cell.options.contains("compress")) {
    marks.emplace_back("bytes before compression");
  }
  if (times.left_out > 0) {
    marks.push_back(
        fmt::format("{} without these buckets left out", count_text(times.left_out, "launch")));
  }
  return join(marks, ", ");
}

std::vector<std::string> point_columns(const CollectiveTimes& times) {
  const results::Cell& cell = times.cell->cell;
  return {cell.model, std::to_string(cell.global_batch), std::to_string(cell.devices),
          strategy_label(cell)};
}

}  // namespace

std::int64_t CollectiveTimes::size_bytes() const {
  return std::accumulate(
      buckets.begin(), buckets.end(), std::int64_t{0},
      [](std::int64_t sum, const BucketTime& bucket) { return sum + bucket.bytes; });
}

double CollectiveTimes::after_backward_share() const {
  const auto backward =
      std::find_if(cell->phases.begin(), cell->phases.end(),
                   [](const PhaseMean& phase) { return phase.name == "backward"; });
  if (backward == cell->phases.end() || total.center <= 0) return last_share();
  return std::max(last_share(), 1 - backward->seconds / total.center);
}

double CollectiveTimes::last_share() const {
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

std::vector<CollectiveTimes> collective_times(const Summary& summary) {
  std::vector<CollectiveTimes> found;
  for (const CellSummary& cell : summary.cells) {
    if (ranks_of(cell) < 2) continue;
    const std::vector<const LaunchRecord*> launches = launches_alike(cell);
    if (!launches.empty()) found.push_back(times_of(cell, launches));
  }
  return found;
}

Table collective_table(const Summary& summary) {
  Table table;
  table.columns = {{"model", Align::kLeft},
                   {"batch", Align::kRight},
                   {"devices", Align::kRight},
                   {"strategy", Align::kLeft},
                   {"buckets", Align::kRight},
                   {"gradients", Align::kRight},
                   {"all collectives, ms [95 %]", Align::kRight},
                   {"waited for, ms [95 %]", Align::kRight},
                   {"not waited for [95 %]", Align::kRight},
                   {"last bucket's bytes", Align::kRight},
                   {"after backward, at least", Align::kRight},
                   {"remarks", Align::kLeft}};
  for (const CollectiveTimes& times : collective_times(summary)) {
    std::vector<std::string> row = point_columns(times);
    row.insert(row.end(),
               {std::to_string(times.buckets.size()), to_string(Bytes{times.size_bytes()}),
                milliseconds(times.total), milliseconds(times.exposed),
                times.hidden_share ? percent_text(*times.hidden_share) : "-",
                fmt::format("{:.1f} %", 100 * times.last_share()),
                fmt::format("{:.1f} %", 100 * times.after_backward_share()), remarks(times)});
    table.rows.push_back(row);
  }
  return table;
}

Table bucket_table(const Summary& summary) {
  Table table;
  table.columns = {{"model", Align::kLeft},
                   {"batch", Align::kRight},
                   {"devices", Align::kRight},
                   {"strategy", Align::kLeft},
                   {"bucket", Align::kRight},
                   {"gradients", Align::kRight},
                   {"time, ms [95 %]", Align::kRight},
                   {"algbw, GB/s", Align::kRight},
                   {"busbw, GB/s", Align::kRight},
                   {"remarks", Align::kLeft}};
  for (const CollectiveTimes& times : collective_times(summary)) {
    for (std::size_t i = 0; i < times.buckets.size(); ++i) {
      const BucketTime& bucket = times.buckets[i];
      std::vector<std::string> row = point_columns(times);
      row.insert(row.end(), {std::to_string(i + 1), to_string(Bytes{bucket.bytes}),
                             milliseconds(bucket.seconds), gigabytes(algorithm_bandwidth(bucket)),
                             gigabytes(bus_bandwidth(bucket, times.ranks)), remarks(times)});
      table.rows.push_back(row);
    }
  }
  return table;
}

}  // namespace tandem::reports
