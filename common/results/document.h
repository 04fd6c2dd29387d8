// SPDX-License-Identifier: Apache-2.0
//
// A sweep's results, and the facts of the sweep that its journal and its document share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/benchmark_entries.h"
#include "common/results/launch_record.h"

namespace tandem::results {

// The facts of a run that Google Benchmark's JSON has in `context`, by its field names.
struct Context {
  struct Cache {
    std::string type;  // "Data", "Instruction", "Unified"
    int level = 0;
    long long size = 0;  // bytes
    int num_sharing = 0;
  };

  std::string date;  // ISO 8601, local time with its offset
  std::string host_name;
  std::string executable;
  int num_cpus = 0;
  int mhz_per_cpu = 0;
  bool cpu_scaling_enabled = false;
  std::vector<Cache> caches;
  std::vector<double> load_avg;
  std::string library_build_type;             // this program's build: "release" or "debug"
  std::map<std::string, std::string> custom;  // further keys, strings as in Google Benchmark
};

// Cells that were planned later, beside the sweep's own: `tandem explain` adds the cells that an
// explanation lacks.
struct Addition {
  std::vector<std::string> cells;  // cells by name
  int launches_per_cell = 0;
};

// Cells of the sweep's axes that make no sense, or that the sweep's constraints rule out.
struct DroppedCells {
  std::string reason;
  std::vector<std::string> cells;  // cells by name
};

// The looks at comparisons of a sweep that goes on until they are resolved, fixed before the first
// look. The comparisons share an error such that all verdicts of the document hold together at 95 %
// (common/stats/looks.h).
struct Resolving {
  double ratio = 0.03;  // cells whose ratio lies within this much of 1 count as equal
  int comparisons = 0;
  int first_round = 0;  // the launches of each cell at the first look
  int last_round = 0;

  bool operator==(const Resolving&) const = default;
};

// The facts of a sweep in its journal and its document.
struct SweepInfo {
  std::string name;
  std::string definition{};  // canonical JSON text of all that determines the measurement
  int planned_cells = 0;
  int launches_per_cell = 0;
  std::optional<Resolving> resolving{};  // absent: a fixed number of launches
  std::vector<DroppedCells> dropped{};
  std::vector<Addition> additions{};  // additions in planning order
  Context context;                    // machine and time of the sweep's start
  // The command that began the run: the words after `tandem`, without --out.
  std::vector<std::vector<std::string>> commands{};
};

// The version of journals and documents as this program writes them.
[[nodiscard]] std::string_view schema_version();

// A sweep's results, the only source of the reports.
struct Document {
  SweepInfo sweep;
  std::vector<LaunchRecord> launches;
  std::vector<OtherEntry> others{};
};

// The text of results.json: the run's `context`, the other programs' entries under `benchmarks`,
// and the full record under `tandem`.
[[nodiscard]] std::string to_json_text(const Document& document);

// Reads `tandem`, `context`, and the other programs' entries of `benchmarks`. Throws a failure
// naming `source`, also for another schema.
[[nodiscard]] Document parse_document(std::string_view text, std::string_view source);

void write_document(const std::filesystem::path& path, const Document& document);
[[nodiscard]] Document read_document(const std::filesystem::path& path);

}  // namespace tandem::results
