// SPDX-License-Identifier: Apache-2.0
//
// What collectives cost a machine: their own time, and the time of what a device computes
// meanwhile.
#pragma once

#include <vector>

#include "common/kernels/precision.h"
#include "common/runtime/platform.h"
#include "simulate/cost/calibration.h"

namespace tandem::bench {

// All-reduces and broadcasts among the platform's devices, by bytes, each rank a thread: on cores
// what a rank's core does in one, handshakes included; on GPUs the time of one.
[[nodiscard]] std::vector<MeasuredCollective> time_collectives(Platform& platform);

// How much longer square products take beside all-reduces among the platform's devices, which are
// GPUs, as a share of their time alone; the most of any device, and never below 0.
[[nodiscard]] double measure_contention_share(Platform& platform, Precision precision);

}  // namespace tandem::bench
