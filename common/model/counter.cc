// SPDX-License-Identifier: Apache-2.0
#include "common/model/counter.h"

namespace tandem {

Counter::Counter()
    : LinearStack({.name = "counter",
                   .layers = {{.weight = "fc.weight", .bias = "fc.bias", .in = 10, .out = 5}},
                   .modules = 2}) {
  buffers_.add("count", {1});
}

void Counter::forward(Executor on, const ConstTensorList& parameters, ModuleState& state,
                      Span<const float> input, Activations& activations) const {
  charge(on);
  on.operations.enqueue(on.stream, AddScalar{.values = state.buffers.front(), .constant = 1});
  state.attributes["calls"] += 1;
  LinearStack::forward(on, parameters, state, input, activations);
}

}  // namespace tandem
