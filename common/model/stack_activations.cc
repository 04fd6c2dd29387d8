// SPDX-License-Identifier: Apache-2.0
#include "common/model/stack_activations.h"

#include <algorithm>

namespace tandem {

StackActivations::StackActivations(Device& device, const std::vector<LinearLayer>& layers,
                                   const ParameterLayout& layout, std::int64_t rows,
                                   Precision precision)
    : rows_(rows), type_(storage_of(precision)) {
  const auto allocate = [&](std::int64_t width) {
    return device.allocate(Bytes{rows * width * size_of(type_)});
  };
  std::int64_t widest = 0;
  for (const LinearLayer& layer : layers) {
    widths_.push_back(layer.out);
    widest = std::max(widest, layer.out);
    outputs_.push_back(allocate(layer.out));
  }
  for (auto& gradient : gradients_) gradient = allocate(widest);
  if (type_ == DType::kFloat32) return;
  copies_.emplace(device, type_, layout, rows * layers.front().in, rows * layers.back().out);
}

Span<float> StackActivations::output() {
  return copies_ ? copies_->output() : output_of(last()).as<float>();
}

Span<float> StackActivations::output_gradient() {
  return copies_ ? copies_->output_gradient() : gradient_of(last()).as<float>();
}

AnySpan StackActivations::output_of(std::size_t layer) const {
  return outputs_[layer]->as(type_, rows_ * widths_[layer]);
}

AnySpan StackActivations::gradient_of(std::size_t layer) const {
  return gradients_[layer % 2]->as(type_, rows_ * widths_[layer]);
}

}  // namespace tandem
