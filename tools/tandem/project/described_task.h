// SPDX-License-Identifier: Apache-2.0
//
// A projection onto described hardware: what is asked for, and what stands behind the answer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "reports/model/projection.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/project/described_machine.h"
#include "tools/tandem/project/module_listing.h"
#include "tools/tandem/project/project_command.h"
#include "tools/tandem/project/projecting.h"

namespace tandem::cli {

// What all cells of the projection have in common.
struct DescribedSteps {
  DescribedMachine machine;
  std::string model{};                        // as in cells
  std::string precision;                      // empty: fp32, or as the module's kernels are listed
  std::string single_step;                    // empty: as described
  std::string costs{};                        // of the interpreter; empty: none
  std::map<std::string, std::string> more{};  // options of the strategies that have them
  std::vector<std::string> bucket_mb{};
  std::vector<std::int64_t> sizes{};  // the batches, ascending: samples of a device, or of all
  bool has_whole_batches = false;     // of all

  [[nodiscard]] std::int64_t batch_of(std::int64_t size, int on_devices) const {
    return has_whole_batches ? size : size * on_devices;
  }
  // dp's step in micro-batches is not simulated, and ddp's is not to be held against another one.
  [[nodiscard]] bool has_dp() const { return !more.contains("accumulate"); }
};

struct DescribedTask {
  const ProjectOptions& options;
  DescribedSteps steps{};
  std::vector<int> devices{};
  ProjectionPlace place{};
  std::optional<ListedModule> module{};
  bool has_own_types = false;  // a workload file lists kernels, each in a type of its own
  bool lists_kernels = true;   // false: a workload file has FLOPs in place of kernels
  std::unique_ptr<TemporaryFolder> scratch = std::make_unique<TemporaryFolder>();
};

// The machine and the precision in words, and what steps like these were found to err by.
[[nodiscard]] reports::Decisions decisions_of(const DescribedTask& task,
                                              const std::vector<results::LaunchRecord>& launches);

// What operations, transfers and the interpreter rest on, a line each; a warning begins with "! ".
[[nodiscard]] std::vector<std::string> basis_of(const DescribedTask& task,
                                                const std::vector<results::LaunchRecord>& launches);

}  // namespace tandem::cli
