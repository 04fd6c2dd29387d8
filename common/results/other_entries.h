// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tandem::results {

// What another program than step_bench's launches measured: an entry of Google Benchmark's output,
// kept whole among a document's `benchmarks`, where its field `tandem_source` tells it apart.
struct OtherEntry {
  std::string source;  // who measured it, such as "peak"
  std::string json;    // the entry as one line of JSON

  bool operator==(const OtherEntry&) const = default;

  [[nodiscard]] std::string name() const;
  // Why there is no figure; empty where there are some.
  [[nodiscard]] std::string error() const;
  // Numbers by name, without those that only number entries: real_time first, in the entry's unit.
  [[nodiscard]] std::vector<std::pair<std::string, double>> figures() const;
  [[nodiscard]] std::string time_unit() const;
};

// Of a file that a program wrote with --benchmark_out; their source is the file's name without its
// ending. Throws a failure that names the file where it is no such output.
[[nodiscard]] std::vector<OtherEntry> read_benchmarks(const std::filesystem::path& file);

}  // namespace tandem::results
