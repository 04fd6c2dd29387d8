// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::cli {

// step_bench's names, the default first.
inline constexpr std::array<std::string_view, 3> kPrecisions{"fp32", "tf32", "bf16"};
inline constexpr const char* kUsualPrecision = "fp32";

struct Workload {
  std::string model;       // as step_bench's --model takes it; of load_sweep with its checksum
  std::int64_t batch = 0;  // global: samples per step over all devices
  std::string precision = kUsualPrecision;
};

struct Strategy {
  std::string strategy;  // "single", "independent", "dp", "dp-allreduce", "ddp", "ddp-replicate"
  std::string launch;    // "threads" or "processes"
  std::map<std::string, std::string> options;  // further options of step_bench, by name
};

// The axes of a sweep: every strategy at every device count on every workload.
struct Sweep {
  std::string name;
  std::string description;
  std::vector<Workload> workloads;
  std::vector<int> devices;
  std::vector<Strategy> strategies;
  int launches = 6;
  std::string min_time = "500ms";  // of samples per launch, after warm-up
  int min_samples = 10;
};

// Reads a sweep file. Usage errors name `source` and the key, unknown keys too: a misspelt one
// would otherwise measure something else than was meant.
[[nodiscard]] Sweep parse_sweep(std::string_view text, const std::string& source);

// `name` is a path where it holds a slash or ends in .json, else a sweep of the first of `folders`
// that has it. Throws a usage error that lists what there is. Models that are workload files lie
// relative to the sweep's folder, and are there.
[[nodiscard]] Sweep load_sweep(const std::string& name,
                               const std::vector<std::filesystem::path>& folders);

// Everything that decides what is measured, as canonical JSON: two runs may share a journal where
// theirs are equal.
struct SweepPlace {
  std::string backend;
  bool oversubscribe = false;
  std::string site{};  // text_of(LaunchSite)
};
[[nodiscard]] std::string definition_of(const Sweep& sweep, const SweepPlace& place);

}  // namespace tandem::cli
