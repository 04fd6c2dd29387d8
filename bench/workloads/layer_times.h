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
  int most_steps = 60;  // with marks, and as many without
  Nanoseconds time = std::chrono::milliseconds(500);
};

// Of each layer, in the order of forward, which enqueues as many operations in either pass as
// given: between marks on the stream at the layers' ends, by the device's clock; the median over
// steps. Marks cost time themselves, which the smallest layers would show: every other step goes
// without them, and the layers of a pass are scaled to add up to the whole pass as it took then.
[[nodiscard]] std::vector<LayerSeconds> time_layers(Device& device, ProbedStep& step,
                                                    const std::vector<LayerOperations>& layers,
                                                    const TimingEffort& effort);

}  // namespace tandem::bench
