// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/tandem/launch/launch_site.h"
#include "tools/tandem/pretend/pretend_command.h"
#include "tools/tandem/run/module_sweep.h"

namespace tandem::cli {

// The pretended GPUs that torch's strategies run on.
struct PretendedDevices {
  int gpus = 0;             // 0: none are pretended
  std::string like{};       // the card; empty: the usual one
  bool beside_gpu = false;  // also where there is a real GPU
};

struct RunOptions : MeasuringOptions {
  std::string sweep;  // empty: quick on the host, node on GPUs
  std::string out;    // empty: a new folder out/SWEEP-N
  int devices = 0;    // what "all" in the sweep means, and its largest; 0: the devices found here
  bool dry_run = false;   // print what would be measured and end
  int launches = 0;       // 0: the sweep's own number
  std::string budget;     // time budget; empty: none
  bool no_links = false;  // measure no bandwidth between devices
  std::string backend = "auto";
  ModuleOptions module{};
  PretendedDevices pretended{};
};

// `tandem run`. Returns 0, 1 where a launch failed or the complete sweep measured nothing, 130
// where a signal ended the sweep early.
[[nodiscard]] int run_sweep(const RunOptions& options);

}  // namespace tandem::cli
