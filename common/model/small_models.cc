// SPDX-License-Identifier: Apache-2.0
#include "common/model/small_models.h"

namespace tandem {

std::unique_ptr<Model> make_linear() {
  return std::make_unique<LinearStack>(LinearStackOptions{
      .name = "linear",
      .layers = {{.weight = "weight", .bias = "bias", .in = 10, .out = 5}},
  });
}

std::unique_ptr<Model> make_padded() {
  return std::make_unique<LinearStack>(LinearStackOptions{
      .name = "padded",
      .layers = {{.weight = "weight", .bias = "bias", .in = 10, .out = 20}},
      .positions = 40,
  });
}

std::unique_ptr<Model> make_custom() {
  return std::make_unique<LinearStack>(LinearStackOptions{
      .name = "custom",
      .layers = {{.weight = "weight", .bias = "", .in = 100, .out = 50},
                 {.weight = "fc.weight", .bias = "fc.bias", .in = 50, .out = 50}},
      .modules = 2,
  });
}

Counter::Counter()
    : LinearStack({.name = "counter",
                   .layers = {{.weight = "fc.weight", .bias = "fc.bias", .in = 10, .out = 5}},
                   .modules = 2}) {
  buffers_.add("count", {1});
}

void Counter::forward(Executor on, const ConstTensorList& parameters, ModuleState& state,
                      Span<const float> input, Activations& activations) const {
  charge(on, 1, DispatchKind::kOperation);
  on.enqueue(AddScalar{.values = state.buffers.front(), .constant = 1});
  state.attributes["calls"] += 1;
  LinearStack::forward(on, parameters, state, input, activations);
}

}  // namespace tandem
