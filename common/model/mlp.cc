// SPDX-License-Identifier: Apache-2.0
#include "common/model/mlp.h"

#include <utility>

namespace tandem {
namespace {

// The layers of torch's equivalent: a Sequential of the linear layers and the ReLUs between them.
LinearStackOptions stack_of(std::string name, const std::vector<std::int64_t>& widths) {
  TANDEM_CHECK(widths.size() >= 2, "an MLP of {} widths", widths.size());
  const auto layers = static_cast<int>(widths.size()) - 1;
  LinearStackOptions stack{.name = std::move(name), .modules = 1 + layers + (layers - 1)};
  for (std::size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    const bool hidden = layer + 2 < widths.size();
    stack.layers.push_back({.weight = fmt::format("layer{}.weight", layer),
                            .bias = fmt::format("layer{}.bias", layer),
                            .in = widths[layer],
                            .out = widths[layer + 1],
                            .activation = hidden ? Activation::kRelu : Activation::kNone});
  }
  return stack;
}

}  // namespace

Mlp::Mlp(std::string name, const std::vector<std::int64_t>& widths)
    : LinearStack(stack_of(std::move(name), widths)) {}

}  // namespace tandem
