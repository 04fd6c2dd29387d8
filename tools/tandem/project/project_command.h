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
  std::string devices;   // as device_counts() reads them; empty: 8, or all of described hardware
  std::string hardware;  // a name or file, of what is no folder
  // Without a folder; empty: fp32, as described, as in published steps, and the usual python.
  std::string precision;
  std::string single_step;
  std::string dispatch_cost;
  std::string accumulate;  // of ddp, as step_bench takes them; empty: one micro-batch, fp32
  std::string compress;
  std::string torch;
  std::optional<int> launches{};         // that time each model's operations
  std::vector<std::string> bucket_mb{};  // empty: the measured cells'
  std::vector<std::int64_t> shares{};    // samples of a device; empty: the measured cells'
  std::vector<std::int64_t> batches{};   // in place of shares, without a folder: over all devices
  bool has_details = false;
  std::string step_bench;
  std::vector<std::string> command{};
};

// `tandem project`: of a folder, predicts every measured cell of several devices from what is not
// that cell, prints how well, and then what dp and ddp would take on more devices; of a model or
// module, as project_described(). Returns 1 where no cell could be simulated.
[[nodiscard]] int project(const ProjectOptions& options);

// Says what dp, ddp and the bound take for a model, a workload file or a module on a described
// machine, and what stands behind these figures; writes both with the simulated launches. A
// module's kernels are listed first, in the python that has torch. Throws usage errors before
// anything is written, a failure where no cell could be simulated, and as facts_of_module().
[[nodiscard]] int project_described(const ProjectOptions& options);

}  // namespace tandem::cli
