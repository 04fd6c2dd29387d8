// SPDX-License-Identifier: Apache-2.0
//
// What every projection does, whatever its cells take their times from: simulating them, telling
// what they rest on, and writing what came out.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/launch_record.h"
#include "reports/model/projection.h"
#include "tools/tandem/launch/launcher.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {

inline constexpr int kMostProjectedDevices = 1024;

struct ProjectionPlace {
  std::filesystem::path step_bench{};
  std::filesystem::path out{};
  ModelFiles model_files{};
  std::vector<std::string> command{};
};

// Counts of devices: "8" and "1..8" are 1, 2, 4, 8, and "2,6" is a list; ascending, each once, from
// 1 to 1,024. Throws a usage error for any other text.
[[nodiscard]] std::vector<int> device_counts(std::string_view text);

// Launches of simulated cells, whose logs lie in the folder.
[[nodiscard]] Launcher projecting_launcher(const ProjectionPlace& place,
                                           const std::filesystem::path& logs,
                                           const Interrupts& interrupts);

// Simulates steps one after another, equal ones once, in a process each, and says on stderr how far
// it is where that takes long. Not thread-safe.
class StepSimulator {
 public:
  explicit StepSimulator(const Launcher& launcher) : launcher_(launcher) {}

  // The record's status is ok, or skipped (out of memory) or failed with the reason. Throws
  // Interrupted.
  [[nodiscard]] const results::LaunchRecord& step(const results::Cell& cell);
  [[nodiscard]] std::vector<results::LaunchRecord> steps(const std::vector<results::Cell>& cells);

 private:
  using Clock = std::chrono::steady_clock;
  void say_where_it_takes_long(const results::Cell& cell);

  const Launcher& launcher_;
  std::map<std::string, results::LaunchRecord> known_{};  // by the names of cells
  Clock::time_point began_ = Clock::now();
  Clock::time_point said_ = began_;
};

// The launch's step; 0 where it left none.
[[nodiscard]] double step_seconds(const results::LaunchRecord& record);

// Simulates the cells and adds each to what was projected or left out. Throws Interrupted.
[[nodiscard]] std::vector<results::LaunchRecord> project_on(reports::Projection& projection,
                                                            const std::vector<results::Cell>& cells,
                                                            StepSimulator& simulator);

// What the launches rest on: each line of their records once, but for the shares of critical paths,
// which each has of its own.
[[nodiscard]] std::vector<std::string> basis_lines(
    const std::vector<results::LaunchRecord>& launches);

// Writes projection.md and, where there are launches, a results document with its page.
void write_projection(const reports::Projection& projection,
                      std::vector<results::LaunchRecord> launches, const ProjectionPlace& place);

}  // namespace tandem::cli
