// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/benchmark_entries.h"
#include "common/results/launch_record.h"
#include "common/results/sweep_info.h"

namespace tandem::results {

// The version of journals and documents as this program writes them.
[[nodiscard]] std::string_view schema_version();

// A sweep's results, the only source of the reports.
struct Document {
  SweepInfo sweep;
  std::vector<LaunchRecord> launches;
  std::vector<OtherEntry> others{};
};

// The text of results.json: a Google Benchmark document (`context`, `benchmarks`) with the full
// record under one further key, `tandem`. `benchmarks` holds an entry per launch that measured:
// launches are the repetitions of a cell, and real_time is the mean of the launch's samples. The
// other programs' entries follow. A cell that failed or was skipped has no time and so no entry;
// `tandem` says why.
[[nodiscard]] std::string to_json_text(const Document& document);

// Reads `tandem`, `context`, and the other programs' entries of `benchmarks`. Throws a failure
// naming `source`, also for another schema.
[[nodiscard]] Document parse_document(std::string_view text, std::string_view source);

void write_document(const std::filesystem::path& path, const Document& document);
[[nodiscard]] Document read_document(const std::filesystem::path& path);

}  // namespace tandem::results
