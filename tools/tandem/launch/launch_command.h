// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/options/option.h"
#include "common/results/launch_record.h"
#include "tools/tandem/launch/launch_site.h"
#include "tools/tandem/launch/torch_twin.h"
#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {

using options::Check;

// Measurements of the machine that one launch makes and later launches reuse.
struct MachineSpeeds {
  // The peak of a device in the cell's precision, or "measured"; empty: not asked.
  std::string peak_gflops{};
};

// The settings that all launches of a sweep share.
struct LaunchSettings {
  std::filesystem::path step_bench{};
  std::string min_time{};
  int min_samples = 10;
  bool oversubscribe = false;
  LaunchSite site{};
  std::string comm_timeout{};  // --comm-timeout of cells without one; empty: step_bench's default
  ModelFiles model_files{};    // the model files of all cells
  // The folder of the launch's flight records; empty: the ranks keep none.
  std::filesystem::path flight_folder{};
  MachineSpeeds speeds{};
  std::optional<TorchTwin> torch{};  // for cells that torch measures
  ModuleSources modules{};           // the modules of all cells
};

// The command line for one launch of a cell. step_bench runs directly where one process holds all
// devices and the site is this machine, else under the site's launcher, whose binding is off in
// favour of step_bench's own. A cell of another implementation runs that implementation's program,
// which takes no speeds of the machine and keeps no flight records.
[[nodiscard]] std::vector<std::string> launch_command(const results::Cell& cell,
                                                      const LaunchSettings& settings,
                                                      const std::filesystem::path& record);

// step_bench's command line that only reads the cell's options, at once, on this machine, in one
// process.
[[nodiscard]] std::vector<std::string> check_command(const results::Cell& cell,
                                                     const LaunchSettings& settings, Check check);

// This process's environment without the variables that would change a measurement. Open MPI may
// run as root, and notices lost nodes soon.
[[nodiscard]] std::vector<std::string> launch_environment();

// The same for launches of the cell, with the variables that its implementation needs.
[[nodiscard]] std::vector<std::string> launch_environment(const results::Cell& cell,
                                                          const LaunchSettings& settings);

// Sets the variable "NAME=value" in an environment.
void set_variable(std::vector<std::string>& environment, const std::string& variable);

}  // namespace tandem::cli
