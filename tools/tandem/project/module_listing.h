// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "simulate/catalogue/description.h"
#include "tools/tandem/launch/torch_twin.h"

namespace tandem::cli {

// A module that is to be listed, for steps on such GPUs.
struct ListingQuestion {
  std::string source;      // as facts_of_module() takes it
  std::string torch;       // the python that has torch
  std::string precision;   // fp32, tf32, bf16 or fp16; empty: fp32
  std::int64_t batch = 1;  // the fewest samples of a device
  GpuDescription gpu;
};

// A module as a workload file that lists its kernels.
struct ListedModule {
  std::filesystem::path file;
  ModuleFacts facts;
  std::string origin;  // "torch-2.11.0 runs them in fp32 on a pretended a100"
};

// Runs steps of the module on pretended GPUs, the nearest to the described one, with fewer
// samples than asked where these are too many for it; on the host where that cannot be, with the
// reason on stderr. Throws as facts_of_module() and a usage error for fp16 on the host.
[[nodiscard]] ListedModule list_module(const ListingQuestion& question,
                                       const std::filesystem::path& folder);

// What stands behind the module's kernels, a line each.
[[nodiscard]] std::vector<std::string> basis_of(const ListedModule& module);

}  // namespace tandem::cli
