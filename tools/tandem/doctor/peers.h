// SPDX-License-Identifier: Apache-2.0
//
// What lies between GPUs, as the driver has it and as copy_bench measures it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/results/gpu_record.h"
#include "tools/tandem/doctor/finding.h"
#include "tools/tandem/doctor/program_run.h"

namespace tandem::doctor {

struct CopySpeed {
  std::string from{};  // "cuda:0", "pinned", ...
  std::string to{};
  double gigabytes_per_second = 0;  // 10^9 bytes, of the median copy of 64 MiB

  bool operator==(const CopySpeed&) const = default;
};

struct CopyRun {
  ProgramRun run{};
  std::vector<CopySpeed> speeds{};
};

// The entries of copy_bench's document that were measured. Throws a failure where it is none.
[[nodiscard]] std::vector<CopySpeed> parse_copies(const std::string& document);

[[nodiscard]] CopyRun run_copies(const Programs& programs, int devices);

// Pairs without peer access are a warning; and so is what is slower than half of the median of its
// kind: copies between GPUs, to them, and from them. Copies that arrive wrong are a problem, said
// by copy_bench, which checks every element. `gpus` may be empty: not told.
[[nodiscard]] Findings judge_peers(const std::vector<results::GpuRecord>& gpus,
                                   const CopyRun& copies);

}  // namespace tandem::doctor
