// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "common/data/synthetic_batch.h"
#include "common/kernels/operations.h"
#include "common/optim/optimizer.h"
#include "common/parallel/interpreters.h"
#include "common/trace/phase_timer.h"

namespace tandem {

// The place of the batch when a step starts.
enum class InputPlace {
  kHost,      // pinned host memory: devices copy while other work goes on
  kPageable,  // ordinary host memory: the copying thread waits for the copy
  kDevice,
};

[[nodiscard]] constexpr HostMemory host_memory_of(InputPlace place) {
  return place == InputPlace::kPageable ? HostMemory::kPageable : HostMemory::kPinned;
}

// How a rank's steps get to its device.
enum class StepReplay {
  kOff,  // each step is enqueued anew
  kOn,   // from the third step on, replays of a CUDA graph: step_graph.h
};

// The options that every strategy of a comparison shares.
struct TrainingOptions {
  std::int64_t global_batch = 0;  // samples per step over all devices
  std::uint64_t seed = 1;         // seed of weights and data
  Distribution distribution = Distribution::kUniform;
  OptimizerOptions optimizer{};
  Precision precision = Precision::kFp32;  // precision in which models compute
  InputPlace input = InputPlace::kHost;
  std::vector<std::int64_t> input_lengths{};  // as in BatchShape; empty: no padding
  PhaseOptions phases{};
  InterpreterOptions interpreter{};
  StepReplay replay = StepReplay::kOff;  // for single, independent and ddp
};

}  // namespace tandem
