// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/job/job.h"

namespace CLI {
class App;
}  // namespace CLI

namespace tandem::bench {

// Flags about which GPUs a job uses, how GPUs reach each other, and where the GPUs' threads run:
// the same flags for every program that opens devices.
struct GpuFlags {
  std::string gpus;  // "2,0"; empty: in CUDA's order
  std::string p2p = "on";
  std::string bind = "near";
};

void declare_gpus(CLI::App& app, GpuFlags& flags);

// Puts the flags into the place; throws usage errors for values that are no number or no switch.
void choose_gpus(const GpuFlags& flags, PlaceOptions& place);

}  // namespace tandem::bench
