// SPDX-License-Identifier: Apache-2.0
#include "common/model/linear_stack.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace tandem {
namespace {

// Outputs of every layer, and two gradient buffers that take turns: once a layer's input gradient
// is made, its output gradient is free, as it is with torch's caching allocator.
class StackActivations final : public Activations {
 public:
  StackActivations(Device& device, const std::vector<LinearLayer>& layers, std::int64_t rows)
      : rows_(rows) {
    std::int64_t widest = 0;
    for (const LinearLayer& layer : layers) {
      widths_.push_back(layer.out);
      widest = std::max(widest, layer.out);
      outputs_.push_back(allocate(device, rows * layer.out));
    }
    for (auto& gradient : gradients_) gradient = allocate(device, rows * widest);
  }

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] Span<float> output() override { return output_of(outputs_.size() - 1); }
  [[nodiscard]] Span<float> output_gradient() override { return gradient_of(outputs_.size() - 1); }

  [[nodiscard]] Span<float> output_of(std::size_t layer) {
    return outputs_[layer]->as<float>(rows_ * widths_[layer]);
  }
  // Of the layer's output.
  [[nodiscard]] Span<float> gradient_of(std::size_t layer) {
    return gradients_[layer % 2]->as<float>(rows_ * widths_[layer]);
  }

 private:
  static std::unique_ptr<Buffer> allocate(Device& device, std::int64_t elements) {
    return device.allocate(bytes_of<float>(elements));
  }

  const std::int64_t rows_;
  std::vector<std::int64_t> widths_;  // of the outputs
  std::vector<std::unique_ptr<Buffer>> outputs_;
  std::array<std::unique_ptr<Buffer>, 2> gradients_;
};

// The segment's tensor; an empty one for a bias that is not there.
template <class T>
Span<T> tensor(const std::vector<Span<T>>& tensors, int segment) {
  return segment < 0 ? Span<T>() : tensors[static_cast<std::size_t>(segment)];
}

// Calls that torch dispatches for the layer: the linear function, and its activation.
int calls_of(const LinearLayer& layer) { return layer.activation == Activation::kNone ? 1 : 2; }

}  // namespace

LinearStack::LinearStack(LinearStackOptions options) : options_(std::move(options)) {
  TANDEM_CHECK(!options_.layers.empty(), "a stack of {} layers", options_.layers.size());
  for (const LinearLayer& layer : options_.layers) {
    Segments& segments = segments_.emplace_back();
    segments.weight = layout_.size();
    layout_.add(layer.weight, {layer.out, layer.in});
    if (layer.bias.empty()) continue;
    segments.bias = layout_.size();
    layout_.add(layer.bias, {layer.out});
  }
}

std::int64_t LinearStack::input_width() const {
  return options_.positions * options_.layers.front().in;
}

std::int64_t LinearStack::output_width() const {
  return options_.positions * options_.layers.back().out;
}

LinearShape LinearStack::shape(std::size_t layer, std::int64_t rows) const {
  return {.batch = rows, .in = options_.layers[layer].in, .out = options_.layers[layer].out};
}

// Three products per layer: output, weight gradient, input gradient; the first layer has no input
// gradient, since nobody asks for it.
double LinearStack::flops_per_sample() const {
  double flops = 0;
  for (std::size_t layer = 0; layer < layers(); ++layer) {
    const auto product = static_cast<double>(product_flops(shape(layer, options_.positions)));
    flops += product * (layer == 0 ? 2 : 3);
  }
  return flops;
}

void LinearStack::initialise(Executor on, const TensorList& parameters, std::uint64_t seed,
                             Distribution distribution) const {
  for (std::size_t layer = 0; layer < layers(); ++layer) {
    // The square root is exactly rounded everywhere; small integers stay integers.
    const float bound = distribution == Distribution::kUniform
                            ? 1.0F / std::sqrt(static_cast<float>(options_.layers[layer].in))
                            : 1.0F;
    for (const int segment : {segments_[layer].weight, segments_[layer].bias}) {
      if (segment == kNoBias) continue;
      const auto index = static_cast<std::size_t>(segment);
      on.operations.enqueue(
          on.stream,
          FillRandom{.values = parameters[index],
                     .seed = seed,
                     .first = static_cast<std::uint64_t>(layout_.segments()[index].offset),
                     .distribution = distribution,
                     .scale = bound});
    }
  }
}

std::unique_ptr<Activations> LinearStack::make_activations(Device& device,
                                                           std::int64_t batch) const {
  return std::make_unique<StackActivations>(device, options_.layers, batch * options_.positions);
}

void LinearStack::forward(Executor on, const ConstTensorList& parameters, ModuleState& /*state*/,
                          Span<const float> input, Activations& activations) const {
  auto& kept = static_cast<StackActivations&>(activations);
  Span<const float> x = input;
  for (std::size_t layer = 0; layer < layers(); ++layer) {
    const Span<float> y = kept.output_of(layer);
    charge(on, calls_of(options_.layers[layer]));
    on.operations.enqueue(on.stream,
                          LinearForward{.shape = shape(layer, kept.rows()),
                                        .x = x,
                                        .weight = tensor(parameters, segments_[layer].weight),
                                        .bias = tensor(parameters, segments_[layer].bias),
                                        .y = y,
                                        .activation = options_.layers[layer].activation});
    x = y;
  }
}

// Like autograd: a layer's node makes all its gradients, then hands them on, bias first.
void LinearStack::backward(Executor on, const ConstTensorList& parameters, Span<const float> input,
                           Activations& activations, const TensorList& gradients,
                           GradientSink& sink) const {
  for (std::size_t layer = layers(); layer-- > 0;) {
    backward_layer(on, layer, parameters, input, activations, gradients);
    const auto& [weight, bias] = segments_[layer];
    if (bias != kNoBias) sink.gradient_ready(bias);
    sink.gradient_ready(weight);
  }
}

void LinearStack::backward_layer(Executor on, std::size_t layer, const ConstTensorList& parameters,
                                 Span<const float> input, Activations& activations,
                                 const TensorList& gradients) const {
  auto& kept = static_cast<StackActivations&>(activations);
  const LinearShape s = shape(layer, kept.rows());
  const auto& [weight, bias] = segments_[layer];
  const Span<float> dy = kept.gradient_of(layer);
  if (options_.layers[layer].activation == Activation::kRelu) {
    on.operations.enqueue(on.stream, ReluBackward{.y = kept.output_of(layer), .dy = dy});
  }
  if (layer > 0) {
    on.operations.enqueue(on.stream, LinearBackwardInput{.shape = s,
                                                         .dy = dy,
                                                         .weight = tensor(parameters, weight),
                                                         .dx = kept.gradient_of(layer - 1)});
  }
  on.operations.enqueue(on.stream,
                        LinearBackwardWeight{.shape = s,
                                             .x = layer == 0 ? input : kept.output_of(layer - 1),
                                             .dy = dy,
                                             .dweight = tensor(gradients, weight),
                                             .dbias = tensor(gradients, bias)});
}

}  // namespace tandem
