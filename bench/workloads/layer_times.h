// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/workloads/probed_step.h"
#include "common/model/replay.h"

namespace tandem::bench {

// Seconds of a layer in a step.
struct LayerSeconds {
  double forward = 0;
  double backward = 0;
};

// How long a step's layers are timed: at least so many steps, and more until so much time is over.
struct TimingEffort {
  int warmup_steps = 3;
  int least_steps = 7;
  int most_steps = 60;
  Nanoseconds time = std::chrono::milliseconds(300);
};

// Of each layer, in the order of forward, which enqueues as many operations in either pass as
// given: between marks on the stream at the layers' ends, by the device's clock; the median over
// steps. What a mark costs, and dispatch where the device waits for it, is in the layer behind it.
[[nodiscard]] std::vector<LayerSeconds> time_layers(Device& device, ProbedStep& step,
                                                    const std::vector<LayerOperations>& layers,
                                                    const TimingEffort& effort);

}  // namespace tandem::bench
