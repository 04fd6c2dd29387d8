// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "tools/tandem/launch/launch_command.h"
#include "tools/tandem/process/child_process.h"

namespace tandem::cli {

struct LaunchOutcome {
  results::LaunchRecord record;
  // The next launch of this cell would only repeat the failure.
  bool hopeless = false;
  // The request cannot be met: step_bench's exit status is 2.
  bool usage_error = false;
  // A node cannot be reached, so no rank was started.
  bool unreachable = false;
  // The launcher of kProgram has lost a rank, so no further launch can be made.
  bool is_last = false;
  std::filesystem::path log{};  // what the launch printed
};

// A model's floating-point operations per sample, forward and backward, and its trained parameters.
struct ModelWork {
  double flops_per_sample = 0;
  double parameters = 0;

  bool operator==(const ModelWork&) const = default;
};

// Runs launches of cells, each in a fresh process group, and turns every outcome into a record.
// Each launch leaves a log; a failed launch also leaves a summary of its ranks' flight records.
class Launcher {
 public:
  Launcher(LaunchSettings settings, std::filesystem::path logs, std::chrono::seconds timeout,
           const Interrupts& interrupts);

  [[nodiscard]] const LaunchSettings& settings() const { return settings_; }

  // Why step_bench refuses the cell's options, whatever the machine, or with kBackend on this
  // machine as well; "" where step_bench accepts the cell.
  [[nodiscard]] std::string refusal_of(const results::Cell& cell, Check check) const;

  // step_bench's figures of the cell's model; zeros where step_bench's answer cannot be read. Asks
  // once per model, until there is an answer. Not thread-safe.
  [[nodiscard]] ModelWork work_of(const results::Cell& cell) const;

  // Returns nothing where an interrupt cut the launch short; such a launch leaves no trace.
  [[nodiscard]] std::optional<LaunchOutcome> run(const results::Cell& cell, int launch,
                                                 const MachineSpeeds& speeds = {}) const;

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
  mutable std::map<std::string, ModelWork> works_{};  // answers by model
};

}  // namespace tandem::cli
