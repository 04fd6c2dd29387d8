// SPDX-License-Identifier: Apache-2.0
//
// The entries that other programs wrote into Google Benchmark's `benchmarks` array.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tandem::results {

// A measurement of another program than step_bench: an entry of Google Benchmark's output, kept
// whole among a document's `benchmarks`, where the field `tandem_source` marks the entry.
struct OtherEntry {
  std::string source;  // the measuring program, such as "peak"
  std::string json;    // the entry as one line of JSON

  bool operator==(const OtherEntry&) const = default;

  [[nodiscard]] std::string name() const;
  // Why the entry has no figures; empty where the entry has some.
  [[nodiscard]] std::string error() const;
  // The figures by name, without the numbers that only count entries: real_time first, in the
  // entry's unit.
  [[nodiscard]] std::vector<std::pair<std::string, double>> figures() const;
  [[nodiscard]] std::string time_unit() const;
};

// Reads a file that a program wrote with --benchmark_out; the entries' source is the file's name
// without its extension. Throws a failure that names the file where the file is no such output.
[[nodiscard]] std::vector<OtherEntry> read_benchmarks(const std::filesystem::path& file);

}  // namespace tandem::results
