// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "tools/tandem/child_process.h"
#include "tools/tandem/interrupts.h"
#include "tools/tandem/launch_command.h"

namespace tandem::cli {

struct LaunchOutcome {
  results::LaunchRecord record;
  // A failure that the next launch of this cell would only repeat.
  bool hopeless = false;
  // What was asked for cannot be had: step_bench's exit status 2.
  bool usage_error = false;
  // A node cannot be reached, so that no rank was started.
  bool unreachable = false;
};

// A model's floating-point operations for a sample, forward and backward, and trained numbers.
struct ModelWork {
  double flops_per_sample = 0;
  double parameters = 0;
};

// Runs launches of cells, each in a fresh process group, and turns whatever happens into a record.
// A launch leaves its log behind, and where it failed what its ranks' flight records told.
class Launcher {
 public:
  Launcher(LaunchSettings settings, std::filesystem::path logs, std::chrono::seconds timeout,
           const Interrupts& interrupts);

  // Why step_bench refuses the cell's options, whatever the machine, or with kBackend this machine
  // as well; "" where it takes them.
  [[nodiscard]] std::string refusal_of(const results::Cell& cell, Check check) const;

  // What step_bench says of the cell's model; zeros where it says nothing that can be read.
  [[nodiscard]] ModelWork work_of(const results::Cell& cell) const;

  // Nothing where an interrupt cut the launch short: it is as if it had never begun.
  [[nodiscard]] std::optional<LaunchOutcome> run(const results::Cell& cell, int launch,
                                                 const Yardsticks& yardsticks = {}) const;

 private:
  [[nodiscard]] ChildResult ask(const results::Cell& cell, Check check,
                                const std::filesystem::path& log) const;
  [[nodiscard]] ChildResult run_in(const results::Cell& cell,
                                   const std::vector<std::string>& command,
                                   const std::filesystem::path& log) const;

  LaunchSettings settings_;
  std::filesystem::path logs_;
  std::chrono::seconds timeout_;
  const Interrupts& interrupts_;
};

}  // namespace tandem::cli
