// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/tandem/launch/launch_site.h"

namespace tandem::cli {

struct RunOptions {
  std::string sweep;
  std::string out;
  int devices = 0;       // the count that "all" in the sweep means; 0: the devices found here
  bool list = false;     // print the names of the sweeps and end
  bool dry_run = false;  // print what would be measured and end
  std::string torch;     // a python with PyTorch; empty: without PyTorch
  int launches = 0;      // 0: the sweep's own number
  std::string budget;    // time budget; empty: none
  bool oversubscribe = false;
  bool no_links = false;  // measure no bandwidth between devices
  std::string backend = "auto";
  std::string step_bench;  // empty: step_bench beside this program
  std::string launch_timeout = "10m";
  SiteOptions site{};
  std::string comm_timeout;            // step_bench's --comm-timeout; empty: its default
  std::vector<std::string> command{};  // the whole command line, without --out
};

// `tandem run`. Returns 0, 1 where a launch failed or the complete sweep measured nothing, 130
// where a signal ended the sweep early.
[[nodiscard]] int run_sweep(const RunOptions& options);

}  // namespace tandem::cli
