// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/workloads/probed_step.h"
#include "common/model/replay.h"

namespace tandem::bench {

// A layer of a model: what backward enqueues up to the next gradients that become ready together,
// and what forward enqueues that multiplies by their parameters.
struct MappedLayer {
  std::vector<int> segments{};  // in the order in which their gradients become ready
  LayerOperations operations{};
  double forward_flops = 0;  // of the step's batch
  double backward_flops = 0;
  std::int64_t calls = 0;  // that forward charged
};

// In the order of forward, which is the reverse of backward's. Runs a step to find out. Forward's
// operations belong to the last layer so far whose parameters were used: one that uses none, or
// those of an earlier layer again, to the layer that it follows.
[[nodiscard]] std::vector<MappedLayer> map_layers(ProbedStep& step);

}  // namespace tandem::bench
