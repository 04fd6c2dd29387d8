// SPDX-License-Identifier: Apache-2.0
//
// A modelled link as a person asks for one: a literal LATENCY:BANDWIDTH, or a preset
// LINK@GPU-FORMAT, which is the named link beside the named GPU with time stretched by K, so that
// transfer and compute keep the ratio of that hardware, though a CPU core computes K times more
// slowly.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "common/runtime/link_model.h"

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

struct LinkRequest {
  std::string text;      // as asked for
  LinkModel link{};      // a preset's link is that of the named hardware
  double gpu_flops = 0;  // dense FLOP/s of a preset's GPU by datasheet; 0 for a literal

  [[nodiscard]] bool is_preset() const { return gpu_flops > 0; }
};

// Parses "20us:1GBps" (decimal units: KBps, MBps, GBps, TBps) or "pcie4@a100-fp32"; throws a usage
// error for any other text.
[[nodiscard]] LinkRequest parse_link(std::string_view text);

// K: the ratio of the preset GPU's FLOP/s to one core's, measured as `core_flops`; 1 for a literal.
[[nodiscard]] double stretch(const LinkRequest& request, double core_flops);

// The link to model: bandwidth / K, latency * K.
[[nodiscard]] LinkModel scaled(const LinkRequest& request, double core_flops);

}  // namespace tandem
