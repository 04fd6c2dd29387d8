// SPDX-License-Identifier: Apache-2.0
#include "common/results/benchmark_entries.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/base/error.h"
#include "common/json/fields.h"
#include "common/json/parse.h"
#include "common/results/files.h"
#include "common/stats/summary.h"

namespace tandem::results {
namespace {

// A cell's place in the array: a strategy is a family, as a benchmark function would be.
struct Place {
  int family = 0;
  int instance = 0;
  int repetitions = 0;
  int next_repetition = 0;
};

// The name holds the mode, since compare.py matches entries by name alone.
std::string entry_name(const LaunchRecord& record) {
  const std::string name = record.cell.name();
  return record.mode == "synchronous" ? name : name + "/mode:" + record.mode;
}

using Places = std::map<std::string, Place>;

Places places_of(const std::vector<LaunchRecord>& launches) {
  std::map<std::pair<std::string, std::string>, std::pair<int, int>> families;  // index, instances
  Places places;
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

// Writes real_time as cpu_time, too: compare.py wants both, and the CPU time of one thread of many
// would say nothing. The context states this.
void write_entry(JsonWriter& writer, const LaunchRecord& record, const std::string& name,
                 Place& place) {
  constexpr double kMilliseconds = 1e3;
  const double mean = stats::mean(record.step_seconds);
  const auto batch = static_cast<double>(record.cell.global_batch);
  writer.open("", '{');
  writer.value("name", name);
  writer.value("family_index", place.family);
  writer.value("per_family_instance_index", place.instance);
  writer.value("run_name", name);
  writer.value("run_type", "iteration");
  writer.value("repetitions", place.repetitions);
  writer.value("repetition_index", place.next_repetition++);
  writer.value("threads", 1);
  writer.value("iterations", record.step_seconds.size());
  writer.value("real_time", mean * kMilliseconds);
  writer.value("cpu_time", mean * kMilliseconds);
  writer.value("time_unit", "ms");
  writer.value("median_ms", stats::median(record.step_seconds) * kMilliseconds);
  writer.value("mad_ms", stats::median_deviation(record.step_seconds) * kMilliseconds);
  writer.value("p95_ms", stats::percentile(record.step_seconds, 95) * kMilliseconds);
  writer.value("min_ms", stats::minimum(record.step_seconds) * kMilliseconds);
  writer.value("max_ms", stats::maximum(record.step_seconds) * kMilliseconds);
  writer.value("samples_per_second", batch / mean);
  writer.value("devices", record.cell.devices);
  writer.value("global_batch", record.cell.global_batch);
  writer.value("launch_index", record.launch_index);
  writer.value("oversubscribed", record.oversubscribed ? 1 : 0);
  const std::optional<double> p99 = stats::percentile_99(record.step_seconds);
  if (p99) writer.value("p99_ms", *p99 * kMilliseconds);
  writer.close();
}

// Google Benchmark's own fields that are no figures; `cpu_time` is the time of the program's main
// thread, which only waits.
constexpr std::array<std::string_view, 8> kNoFigures{
    "family_index",     "per_family_instance_index",
    "repetitions",      "repetition_index",
    "repetition_count", "threads",
    "iterations",       "cpu_time"};

// The text under `key` in an entry; "" where the entry has none.
std::string text_in(const OtherEntry& entry, std::string_view key) {
  const JsonDocument json(JsonAuthor::kProgram, entry.json, entry.source);
  return value_or(json.root(), key, std::string());
}

// An entry in one line, which names its source.
std::string line_of(const JsonValue& entry, const std::string& source) {
  constexpr const char* kSource = "tandem_source";
  std::string line;
  JsonWriter writer(line);
  writer.open("", '{');
  for (const JsonValue member : entry) {
    if (member.key() != kSource) writer.copy(member.key(), member);
  }
  writer.value(kSource, source);
  writer.close();
  return line;
}

}  // namespace

std::string OtherEntry::name() const { return text_in(*this, "name"); }
std::string OtherEntry::error() const { return text_in(*this, "error_message"); }
std::string OtherEntry::time_unit() const { return text_in(*this, "time_unit"); }

std::vector<std::pair<std::string, double>> OtherEntry::figures() const {
  std::vector<std::pair<std::string, double>> found;
  const JsonDocument entry(JsonAuthor::kProgram, json, source);
  for (const JsonValue member : entry.root()) {
    const bool is_count = std::ranges::find(kNoFigures, member.key()) != kNoFigures.end();
    if (member.is_number() && !is_count) found.emplace_back(member.key(), member.number());
  }
  return found;
}

std::vector<OtherEntry> read_benchmarks(const std::filesystem::path& file) {
  const JsonDocument document(JsonAuthor::kProgram, read_file(file), file.string());
  const JsonValue root = document.root();
  const auto entries = root.find("benchmarks");
  if (!entries || !entries->is_list()) {
    root.complain("it has no list 'benchmarks'; give what --benchmark_out wrote");
  }
  if (root.has("tandem")) {
    root.complain(
        "it is a results.json of tandem's, whose launches would be listed twice; give what "
        "--benchmark_out wrote");
  }
  std::vector<OtherEntry> found;
  const std::string source = file.stem().string();
  for (const JsonValue entry : *entries) {
    entry.expect_object();
    found.push_back({.source = source, .json = line_of(entry, source)});
  }
  return found;
}

void write_benchmark_entries(JsonWriter& writer, const std::vector<LaunchRecord>& launches) {
  Places places = places_of(launches);
  // Repetitions of one cell stand together, as Google Benchmark writes them, although launches were
  // interleaved.
  std::vector<std::pair<const LaunchRecord*, Places::value_type*>> order;
  for (const LaunchRecord& record : launches) {
    if (record.status != Status::kOk) continue;
    order.emplace_back(&record, &*places.find(entry_name(record)));
  }
  const auto key = [](const auto& entry) {
    const Place& place = entry.second->second;
    return std::tuple(place.family, place.instance, entry.first->launch_index);
  };
  std::ranges::stable_sort(order, [&](const auto& a, const auto& b) { return key(a) < key(b); });
  for (const auto& [record, entry] : order) {
    write_entry(writer, *record, entry->first, entry->second);
  }
}

}  // namespace tandem::results
