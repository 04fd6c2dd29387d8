// SPDX-License-Identifier: Apache-2.0
#include "common/results/benchmark_entries.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "common/json/fields.h"
#include "common/json/parse.h"
#include "common/results/files.h"

namespace tandem::results {
namespace {

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

}  // namespace tandem::results
