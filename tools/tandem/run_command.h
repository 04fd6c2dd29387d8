// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/tandem/launch_site.h"

namespace tandem::cli {

struct RunOptions {
  std::string sweep;
  std::string out;
  int devices = 0;       // what "all" in the sweep means; 0: what is found here
  bool list = false;     // name the sweeps, and end
  bool dry_run = false;  // say what would be measured, and end
  std::string torch;     // a python: PyTorch beside; empty: without
  int launches = 0;      // 0: as the sweep says
  std::string budget;    // empty: none
  bool oversubscribe = false;
  bool no_links = false;  // leave what crosses between devices unmeasured
  std::string backend = "auto";
  std::string step_bench;  // empty: beside this program
  std::string launch_timeout = "10m";
  SiteOptions site{};
  std::string comm_timeout;            // of step_bench; empty: its default
  std::vector<std::string> command{};  // all of it as it was given, but for --out
};

// `tandem run`. Exit code: 0, 1 where a launch failed or the complete sweep measured nothing, 130
// where a signal ended it early.
[[nodiscard]] int run_sweep(const RunOptions& options);

}  // namespace tandem::cli
