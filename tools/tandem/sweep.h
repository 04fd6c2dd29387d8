// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/tandem/constraint.h"

namespace tandem::cli {

// step_bench's names, the default first.
inline constexpr std::array<std::string_view, 3> kPrecisions{"fp32", "tf32", "bf16"};
inline constexpr const char* kUsualPrecision = "fp32";

struct Workload {
  std::string model;       // as cells have it; a file's before load_sweep as it is written
  std::int64_t batch = 0;  // samples per step over all devices, or of each
  std::string precision = kUsualPrecision;
  bool is_per_device = false;  // the batch
};

struct Strategy {
  std::string strategy;  // "single", "independent", "dp", "dp-allreduce", "ddp", "ddp-replicate"
  std::string launch;    // "threads" or "processes"
  std::map<std::string, std::string> options;  // further options of step_bench, by name
};

// Where models that are files lie, with their checksums, as step_bench's --model takes them: by the
// model that cells have.
using ModelFiles = std::map<std::string, std::string>;

// The axes of a sweep: every strategy at every device count on every workload, but for what its
// constraints drop.
struct Sweep {
  std::string name;
  std::string description;
  std::vector<Workload> workloads;
  std::vector<int> devices;
  std::vector<Strategy> strategies;
  std::vector<Constraint> constraints{};
  // Models given as a list, the smallest first: what is out of memory with one is not tried with
  // those after it.
  std::vector<std::vector<std::string>> model_series{};
  ModelFiles model_files{};             // of load_sweep
  std::vector<std::string> left_out{};  // axes that a strategy does not have, a line each
  int launches = 6;
  std::string min_time = "500ms";  // of samples per launch, after warm-up
  int min_samples = 10;
};

// Reads a sweep file, in which devices are numbers from 1, "all", "1..all" or "doubling" (1, 2, 4,
// ... and all); `all_devices` is what "all" means, 0 where that is not known. Usage errors name
// `source` and the key, unknown keys too: a misspelt one would otherwise measure something else
// than was meant.
[[nodiscard]] Sweep parse_sweep(std::string_view text, const std::string& source,
                                int all_devices = 0);

// Everything that decides what is measured, as canonical JSON: two runs may share a journal where
// theirs are equal.
struct SweepPlace {
  std::string backend;
  bool oversubscribe = false;
  std::string site{};   // text_of(LaunchSite)
  std::string torch{};  // what PyTorch's cells are called; empty: there are none
};
[[nodiscard]] std::string definition_of(const Sweep& sweep, const SweepPlace& place);

}  // namespace tandem::cli
