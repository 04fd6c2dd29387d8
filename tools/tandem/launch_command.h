// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "tools/tandem/launch_site.h"
#include "tools/tandem/sweep.h"
#include "tools/tandem/torch_twin.h"

namespace tandem::cli {

// What one launch measures of the machine and later ones are given.
struct Yardsticks {
  double core_gflops = 0;  // that preset links are scaled to; 0: each launch measures it
  // Of a device in the cell's precision, or "measured"; empty: not asked.
  std::string peak_gflops{};
};

// What all launches of a sweep share.
struct LaunchSettings {
  std::filesystem::path step_bench;
  std::string min_time;
  int min_samples = 10;
  bool oversubscribe = false;
  LaunchSite site{};
  std::string comm_timeout{};  // of step_bench, as given, for cells without one; empty: its default
  ModelFiles model_files{};    // of all cells
  // Of the launch: where its ranks keep their flight records; empty: nowhere.
  std::filesystem::path flight_folder{};
  Yardsticks yardsticks{};
  std::optional<TorchTwin> torch{};  // for cells of its implementation
};

// A link beside a GPU's speed, "pcie4@a100-fp32": it is scaled to the speed of one core.
[[nodiscard]] bool has_preset_link(const results::Cell& cell);

// step_bench's command line for one launch of a cell: run directly where one process holds all
// devices and the site is this machine, else under the site's launcher, whose binding is off in
// favour of step_bench's own. Of a cell of another implementation, that one's program, which
// measures no yardsticks and keeps no flight records.
[[nodiscard]] std::vector<std::string> launch_command(const results::Cell& cell,
                                                      const LaunchSettings& settings,
                                                      const std::filesystem::path& record);

// What step_bench looks at where it measures nothing: its options, or this machine's back end too,
// or what the model is.
enum class Check { kOptions, kBackend, kModel };

// step_bench's command line that only reads the cell's options: at once, here, and by one process.
[[nodiscard]] std::vector<std::string> check_command(const results::Cell& cell,
                                                     const LaunchSettings& settings, Check check);

// This process's environment without the variables that would change what is measured, and with
// Open MPI's leave to run as root; lost nodes are noticed soon.
[[nodiscard]] std::vector<std::string> launch_environment();

// Gives a variable, "NAME=value", that value in an environment.
void set_variable(std::vector<std::string>& environment, const std::string& variable);

}  // namespace tandem::cli
