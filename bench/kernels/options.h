// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/driver/flag_values.h"
#include "common/kernels/precision.h"
#include "common/parallel/strategy.h"
#include "common/runtime/registry.h"

namespace tandem::bench {

inline constexpr std::array kInputs{Choice<InputPlace>{"host", InputPlace::kHost},
                                    Choice<InputPlace>{"pageable", InputPlace::kPageable},
                                    Choice<InputPlace>{"device", InputPlace::kDevice}};

struct KernelOptions {
  bool peak = false;                     // measures peaks instead of operations
  std::optional<Precision> precision{};  // none: with `peak` all that the device has, else fp32
  std::string step_of{};   // model whose step is compared with bare products, instead of operations
  std::int64_t batch = 0;  // samples of the model's step
  InputPlace input = InputPlace::kHost;  // place of the step's input
  int pairs = 100;                       // pairs of the step and its products
  BackendChoice backend = BackendChoice::kAuto;
  std::vector<std::string> benchmark_flags{};  // --benchmark_..., for Google Benchmark
};

// Throws usage errors; with --help, prints the help and returns nothing.
[[nodiscard]] std::optional<KernelOptions> parse_kernel_options(int argc, const char* const* argv);

}  // namespace tandem::bench
