// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/kernels/precision.h"
#include "common/runtime/registry.h"

namespace tandem::bench {

struct KernelOptions {
  bool peak = false;                     // measures peaks instead of operations
  std::optional<Precision> precision{};  // none: with `peak` all that the device has, else fp32
  BackendChoice backend = BackendChoice::kAuto;
  std::vector<std::string> benchmark_flags{};  // --benchmark_..., for Google Benchmark
};

// Throws usage errors; with --help, prints the help and returns nothing.
[[nodiscard]] std::optional<KernelOptions> parse_kernel_options(int argc, const char* const* argv);

}  // namespace tandem::bench
