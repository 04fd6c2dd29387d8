// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::cli {

struct ProjectOptions {
  std::string source;                    // a folder of tandem run
  std::string out;                       // empty: `projected` in that folder
  std::string hardware;                  // a name or file; empty: the calibrated machine
  int devices = 8;                       // the most that are projected
  int launches = 5;                      // that time each model's operations
  std::string link;                      // in place of the measured cells'
  std::vector<std::string> bucket_mb{};  // empty: the measured cells'
  std::vector<std::int64_t> shares{};    // samples of a device; empty: the measured cells'
  std::string check;                     // "5%": the hold-out alone; empty: no check
  std::string step_bench;
  std::vector<std::string> command{};
};

// `tandem project`: predicts every measured cell of several devices from what is not that cell,
// prints how well, and then what dp and ddp would take on more devices or other hardware. Returns 1
// where --check finds the mean error above its bar or where no cell could be simulated.
[[nodiscard]] int project(const ProjectOptions& options);

}  // namespace tandem::cli
