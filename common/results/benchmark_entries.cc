// SPDX-License-Identifier: Apache-2.0
#include "common/results/benchmark_entries.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/stats/summary.h"

namespace tandem::results {
namespace {

// Where a cell stands among the others: a family is a strategy, as a benchmark function would be.
struct Place {
  int family = 0;
  int instance = 0;
  int repetitions = 0;
  int next_repetition = 0;
};

// Modes are told apart in the name, for compare.py matches entries by it alone.
std::string entry_name(const LaunchRecord& record) {
  const std::string name = record.cell.name();
  return record.mode == "synchronous" ? name : name + "/mode:" + record.mode;
}

std::map<std::string, Place> places_of(const std::vector<LaunchRecord>& launches) {
  std::map<std::pair<std::string, std::string>, std::pair<int, int>> families;  // index, instances
  std::map<std::string, Place> places;
  for (const LaunchRecord& record : launches) {
    if (record.status != Status::kOk) continue;
    const auto [place, is_new] = places.try_emplace(entry_name(record));
    if (is_new) {
      const int next = static_cast<int>(families.size());
      const auto family =
          families.try_emplace({record.cell.strategy, record.cell.launch}, next, 0).first;
      place->second.family = family->second.first;
      place->second.instance = family->second.second++;
    }
    ++place->second.repetitions;
  }
  return places;
}

// cpu_time repeats real_time: compare.py wants both, and the CPU time of one thread of many would
// say nothing. The context states this.
Json entry(const LaunchRecord& record, Place& place) {
  constexpr double kMilliseconds = 1e3;
  const double mean = stats::mean(record.step_seconds);
  const auto batch = static_cast<double>(record.cell.global_batch);
  const std::string name = entry_name(record);
  Json json{{"name", name},
            {"family_index", place.family},
            {"per_family_instance_index", place.instance},
            {"run_name", name},
            {"run_type", "iteration"},
            {"repetitions", place.repetitions},
            {"repetition_index", place.next_repetition++},
            {"threads", 1},
            {"iterations", record.step_seconds.size()},
            {"real_time", mean * kMilliseconds},
            {"cpu_time", mean * kMilliseconds},
            {"time_unit", "ms"},
            {"median_ms", stats::median(record.step_seconds) * kMilliseconds},
            {"mad_ms", stats::median_deviation(record.step_seconds) * kMilliseconds},
            {"p95_ms", stats::percentile(record.step_seconds, 95) * kMilliseconds},
            {"min_ms", stats::minimum(record.step_seconds) * kMilliseconds},
            {"max_ms", stats::maximum(record.step_seconds) * kMilliseconds},
            {"samples_per_second", batch / mean},
            {"devices", record.cell.devices},
            {"global_batch", record.cell.global_batch},
            {"launch_index", record.launch_index},
            {"oversubscribed", record.oversubscribed ? 1 : 0}};
  const std::optional<double> p99 = stats::percentile_99(record.step_seconds);
  if (p99) json["p99_ms"] = *p99 * kMilliseconds;
  return json;
}

}  // namespace

void for_each_benchmark_entry(const std::vector<LaunchRecord>& launches,
                              const std::function<void(const Json&)>& take) {
  std::map<std::string, Place> places = places_of(launches);
  // Repetitions of one cell stand together, as the library writes them; launches were interleaved.
  std::vector<std::pair<const LaunchRecord*, Place*>> order;
  for (const LaunchRecord& record : launches) {
    if (record.status == Status::kOk) order.emplace_back(&record, &places.at(entry_name(record)));
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.second->family, a.second->instance, a.first->launch_index) <
           std::tuple(b.second->family, b.second->instance, b.first->launch_index);
  });
  for (const auto& [record, place] : order) take(entry(*record, *place));
}

}  // namespace tandem::results
