// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/tandem/launch/launch_site.h"
#include "tools/tandem/launch/python_script.h"
#include "tools/tandem/run/module_sweep.h"

namespace tandem::cli {

struct RunOptions : MeasuringOptions {
  std::string sweep;  // empty: quick on the host, node on GPUs
  std::string out;    // empty: a new folder out/SWEEP-N
  int devices = 0;    // what "all" in the sweep means, and its largest; 0: the devices found here
  bool dry_run = false;  // print what would be measured and end
  int launches = 0;      // 0: the sweep's own number
  std::string budget;    // time budget; empty: none
  std::string resolve;   // go on until ratios are resolved or within this share of 1; empty: no
  std::string backend = "auto";
  ModuleOptions module{};
  PretendOptions pretended{.gpus = 0};  // the GPUs of --pretend; 0: none
};

// `tandem run`. Returns 0, 1 where a launch failed or the complete sweep measured nothing, 130
// where a signal ended the sweep early.
[[nodiscard]] int run_sweep(const RunOptions& options);

// The same with --dry-run: prints which cells would be measured and which not, with the time that
// they need. Leaves nothing in --out. Returns 0; throws the usage errors of the run.
[[nodiscard]] int dry_run(const RunOptions& options);

}  // namespace tandem::cli
