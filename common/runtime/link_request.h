// SPDX-License-Identifier: Apache-2.0
//
// A modelled link as a person asks for it. Literal: LATENCY:BANDWIDTH. Or a preset LINK@GPU-FORMAT,
// the named link beside the named GPU, with time stretched by K, so that transfer and compute stand
// in the ratio that they have there, though a CPU core computes K times more slowly.
#pragma once

#include <string>
#include <string_view>

#include "common/runtime/link_model.h"

namespace tandem {

struct LinkRequest {
  std::string text;      // as asked for
  LinkModel link{};      // of a preset: the named hardware's own
  double gpu_flops = 0;  // of a preset: its GPU's dense FLOP/s by datasheet; 0 for a literal

  [[nodiscard]] bool is_preset() const { return gpu_flops > 0; }
};

// "20us:1GBps" (decimal units: KBps, MBps, GBps, TBps) or "pcie4@a100-fp32"; else a usage error.
[[nodiscard]] LinkRequest parse_link(std::string_view text);

// K: how much more FLOP/s the preset's GPU has than one core, which was measured at `core_flops`.
// 1 for a literal.
[[nodiscard]] double stretch(const LinkRequest& request, double core_flops);

// The link to model: bandwidth / K, latency * K.
[[nodiscard]] LinkModel scaled(const LinkRequest& request, double core_flops);

}  // namespace tandem
