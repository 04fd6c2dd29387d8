// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/job.h"

namespace CLI {
class App;
}  // namespace CLI

namespace tandem::bench {

// Flags about which GPUs a job uses, how they reach each other, and where their threads run: the
// same for every program that opens devices.
struct GpuFlags {
  std::string gpus;  // "2,0"; empty: as CUDA lists them
  std::string p2p = "on";
  std::string bind = "near";
};

void declare_gpus(CLI::App& app, GpuFlags& flags);

// Into the place; usage errors for what is no number or no switch.
void choose_gpus(const GpuFlags& flags, PlaceOptions& place);

}  // namespace tandem::bench
