// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace tandem {

struct LinkPreset {
  std::string_view name;
  double gigabytes_per_second = 0;  // per direction, 10^9
  double latency_us = 0;            // latency of one hop
  std::string_view source;
};

struct GpuPreset {
  std::string_view name;  // GPU and format
  double teraflops = 0;   // dense TFLOP/s
  std::string_view source;
};

[[nodiscard]] std::span<const LinkPreset> link_presets();
[[nodiscard]] std::span<const GpuPreset> gpu_presets();

}  // namespace tandem
