// SPDX-License-Identifier: Apache-2.0
#include "common/results/other_entries.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/results/files.h"
#include "common/results/json_parts.h"
#include "common/results/json_values.h"

namespace tandem::results {
namespace {

// Google Benchmark's own fields that are no figures; `cpu_time` is the time of the program's main
// thread, which only waits.
constexpr std::array<std::string_view, 8> kNoFigures{
    "family_index",     "per_family_instance_index",
    "repetitions",      "repetition_index",
    "repetition_count", "threads",
    "iterations",       "cpu_time"};

}  // namespace

std::string OtherEntry::name() const {
  return value_or(ScannedJson(json, source).root(), "name", std::string());
}

std::string OtherEntry::error() const {
  return value_or(ScannedJson(json, source).root(), "error_message", std::string());
}

std::string OtherEntry::time_unit() const {
  return value_or(ScannedJson(json, source).root(), "time_unit", std::string());
}

std::vector<std::pair<std::string, double>> OtherEntry::figures() const {
  std::vector<std::pair<std::string, double>> found;
  const ScannedJson entry(json, source);
  entry.root().for_each([&found](const JsonValue& member) {
    const std::string key = member.key();
    const bool is_figure = std::find(kNoFigures.begin(), kNoFigures.end(), key) == kNoFigures.end();
    double value = 0;
    if (is_figure && member.get(value)) found.emplace_back(key, value);
  });
  return found;
}

std::vector<OtherEntry> read_benchmarks(const std::filesystem::path& file) {
  const Json json = parse_json(read_file(file), file.string());
  const auto entries = json.is_object() ? json.find("benchmarks") : json.end();
  if (!json.is_object() || entries == json.end() || !entries->is_array()) {
    fail(ErrorKind::kFailure,
         "reading {}: it has no list 'benchmarks'; give what --benchmark_out wrote", file.string());
  }
  if (json.contains("tandem")) {
    fail(ErrorKind::kFailure,
         "reading {}: it is a results.json of tandem's, whose launches would be listed twice; give "
         "what --benchmark_out wrote",
         file.string());
  }
  std::vector<OtherEntry> found;
  for (Json entry : *entries) {
    if (!entry.is_object())
      fail(ErrorKind::kFailure, "reading {}: an entry is none", file.string());
    const std::string source = file.stem().string();
    entry["tandem_source"] = source;
    found.push_back({.source = source, .json = dump(entry)});
  }
  return found;
}

}  // namespace tandem::results
