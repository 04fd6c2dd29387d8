// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/workloads/probed_step.h"
#include "common/model/replay.h"

namespace tandem::bench {

// A layer of a model: the operations that backward enqueues up to the next gradients that become
// ready together, and the operations that forward enqueues with the parameters of those gradients.
struct MappedLayer {
  std::vector<int> segments{};  // in the order in which their gradients become ready
  LayerOperations operations{};
  double forward_flops = 0;  // of the step's batch
  double backward_flops = 0;
  std::int64_t calls = 0;  // interpreter calls that forward charged
};

// The layers in the order of forward, which is the reverse of backward's. Runs a step to find the
// layers. Forward's operations belong to the latest layer whose parameters were used: an operation
// that uses no parameters, or an earlier layer's again, belongs to the layer before it.
[[nodiscard]] std::vector<MappedLayer> map_layers(ProbedStep& step);

}  // namespace tandem::bench
