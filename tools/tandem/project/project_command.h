// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tandem::cli {

// Launches that time each model's operations where --launches does not say.
inline constexpr int kUsualCalibrationLaunches = 5;

struct ProjectOptions {
  // What is projected, one of these: a folder of tandem run; a built-in model or a workload file; a
  // function that returns a module.
  std::string source;
  std::string model;
  std::string module;
  std::string out;       // empty: `projected` in the folder, or a new one
  std::string hardware;  // a name or file; empty: the calibrated machine
  std::string devices;   // as device_counts() reads them; empty: 8, or all of described hardware
  // Without a folder; empty: fp32, as described, as published steps tell, and the usual python.
  std::string precision;
  std::string single_step;
  std::string dispatch_cost;
  std::string torch;
  std::optional<int> launches{};         // that time each model's operations
  std::string link;                      // in place of the measured cells'
  std::vector<std::string> bucket_mb{};  // empty: the measured cells'
  std::vector<std::int64_t> shares{};    // samples of a device; empty: the measured cells'
  std::vector<std::int64_t> batches{};   // in place of shares, without a folder: over all devices
  std::string check;                     // "5%": the hold-out alone; empty: no check
  std::string step_bench;
  std::vector<std::string> command{};
};

// `tandem project`: of a folder, predicts every measured cell of several devices from what is not
// that cell, prints how well, and then what dp and ddp would take on more devices or other
// hardware; of a model or module, as project_described(). Returns 1 where --check finds the mean
// error above its bar or where no cell could be simulated.
[[nodiscard]] int project(const ProjectOptions& options);

}  // namespace tandem::cli
