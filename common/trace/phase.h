// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace tandem {

// The parts of a step, by fixed names that traces, results and reports share. The phases of a
// device partition the device's own timeline; kIdle is waiting for another device or rank.
enum class Phase {
  kLaunch,     // dp: threads started and joined
  kCheck,      // dp: whether every parameter is on device 0
  kScatter,    // dp: input pieces to the devices
  kInput,      // the rank's own batch to its device
  kBuffers,    // ddp: the model's buffers from rank 0
  kReplicate,  // dp: weights to the devices
  kForward,
  kGather,  // dp: outputs to device 0
  kLoss,
  kScatterGrad,  // dp: output gradients to the devices
  kBackward,
  kBucketCopy,   // ddp: gradients into buckets and back
  kReduce,       // dp: gradients summed on device 0
  kExposedComm,  // ddp: waiting for collectives that backward did not hide
  kUpdate,
  kIdle,
};

constexpr std::size_t kPhaseCount = static_cast<std::size_t>(Phase::kIdle) + 1;

inline constexpr std::array<std::string_view, kPhaseCount> kPhaseNames{
    "launch",  "check",        "scatter", "input",        "buffers",  "replicate",
    "forward", "gather",       "loss",    "scatter_grad", "backward", "bucket_copy",
    "reduce",  "exposed_comm", "update",  "idle"};

[[nodiscard]] constexpr std::string_view name_of(Phase phase) {
  return kPhaseNames[static_cast<std::size_t>(phase)];
}

}  // namespace tandem
