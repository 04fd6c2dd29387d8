// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/workloads/probed_step.h"
#include "common/model/replay.h"

namespace tandem::bench {

// The seconds of one layer in a step.
struct LayerSeconds {
  double forward = 0;
  double backward = 0;
};

// The seconds of each layer, in the order of forward; each layer enqueues as many operations in
// either pass as given. A time is taken between marks on the stream at the layer's ends, by the
// device's clock, as the median over steps. Marks cost time themselves, which the smallest layers
// would show: every other step goes without marks, and the layers of a pass are scaled to add up to
// the whole pass of those steps.
[[nodiscard]] std::vector<LayerSeconds> time_layers(Device& device, ProbedStep& step,
                                                    const std::vector<LayerOperations>& layers);

}  // namespace tandem::bench
