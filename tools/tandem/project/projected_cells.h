// SPDX-License-Identifier: Apache-2.0
//
// The cells of a projection: what was measured, simulated to be held against its measurement, and
// what nobody measured.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "reports/model/closed_forms.h"
#include "reports/model/summary.h"
#include "tools/tandem/launch/launcher.h"

namespace tandem::cli {

// What operations and transfers of simulated cells take their times from.
struct ProjectionBasis {
  std::map<std::string, std::filesystem::path> calibrations{};  // by precision
  std::map<std::string, reports::LinkFigures> links{};  // between calibrated devices, by precision
  std::string hardware{};  // a name or file; empty: the calibrated machine
};

// The measured cell as a simulated one: the same strategy, devices, batch and options, with the
// basis of its precision in the options.
[[nodiscard]] results::Cell simulated_cell(const results::Cell& measured,
                                           const ProjectionBasis& basis);

// The cells of a summary that are held out: Tandem's own, measured, without a planted delay and on
// a core or GPU of its own each, on two devices or more that exchange something. `independent` is
// left out, as errors of what exchanges nothing would make the others' look small.
[[nodiscard]] std::vector<const reports::CellSummary*> cells_to_hold_out(
    const reports::Summary& summary);

// What is projected beyond the measured cells.
struct ProjectionAsked {
  std::vector<int> devices{};
  // In place of the links, buckets and shares of measured cells; empty: theirs.
  std::vector<std::string> bucket_mb{};
  std::vector<std::int64_t> shares{};  // samples of a device
  std::string link{};
};

// dp and ddp on each count of devices, for each model, precision and share of a
// device's batch that the cells measured with these strategies; each once.
[[nodiscard]] std::vector<results::Cell> cells_to_project(
    const std::vector<const reports::CellSummary*>& measured, const ProjectionAsked& asked);

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

}  // namespace tandem::cli
