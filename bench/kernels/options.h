// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/kernels/precision.h"
#include "common/parallel/training_options.h"
#include "common/runtime/registry.h"

namespace tandem::bench {

struct KernelOptions {
  bool peak = false;                     // instead of the operations
  std::optional<Precision> precision{};  // none: with `peak` all that the device has, else fp32
  std::string step_of{};                 // a model: its step against bare products, instead
  std::string parts_of{};                // a model: where the time of its step goes, instead
  std::int64_t batch = 0;                // of that step
  InputPlace input = InputPlace::kHost;  // of that step
  int pairs = 100;                       // of that step and its products
  int steps = 50;                        // whose parts are summed
  BackendChoice backend = BackendChoice::kAuto;
  std::vector<std::string> benchmark_flags{};  // --benchmark_..., for Google Benchmark
};

// Throws usage errors; with --help, prints it and returns nothing.
[[nodiscard]] std::optional<KernelOptions> parse_kernel_options(int argc, const char* const* argv);

}  // namespace tandem::bench
