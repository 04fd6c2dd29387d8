// SPDX-License-Identifier: Apache-2.0
#include "common/model/small_models.h"

#include "common/model/linear_stack.h"

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

}  // namespace tandem
