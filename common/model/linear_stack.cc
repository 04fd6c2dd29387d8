// SPDX-License-Identifier: Apache-2.0
#include "common/model/linear_stack.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "common/model/passes.h"

namespace tandem {

// The outputs of every layer, and two gradient buffers that take turns: once a layer's input
// gradient is made, its output gradient is free, as with torch's caching allocator. In bf16 all
// these tensors are bf16, with fp32 copies of the last two where the output is to be fp32.
class StackActivations final : public Activations {
 public:
  StackActivations(Device& device, const std::vector<LinearLayer>& layers,
                   const ParameterLayout& layout, std::int64_t rows, Precision precision,
                   OutputType output_type)
      : rows_(rows), type_(storage_of(precision)), tensors_(device) {
    std::int64_t widest = 0;
    for (const LinearLayer& layer : layers) {
      widest = std::max(widest, layer.out);
      outputs_.push_back(tensors_.add(type_, rows * layer.out));
    }
    for (AnySpan& gradient : gradients_) gradient = tensors_.add(type_, rows * widest);
    output_ = output_of(layers.size() - 1);
    output_gradient_ = gradient_of(layers.size() - 1);
    if (type_ == DType::kFloat32) return;
    copies_.emplace(device, type_, layout);
    input_ = tensors_.add(type_, rows * layers.front().in);
    if (output_type == OutputType::kLayers) return;
    output_ = tensors_.add(output_.size());
    output_gradient_ = tensors_.add(output_.size());
  }

  [[nodiscard]] AnySpan output() override { return output_; }
  [[nodiscard]] AnySpan output_gradient() override { return output_gradient_; }

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] AnySpan output_of(std::size_t layer) const { return outputs_[layer]; }
  // The gradient of the layer's output.
  [[nodiscard]] AnySpan gradient_of(std::size_t layer) const {
    return gradients_[layer % 2].subspan(0, outputs_[layer].size());
  }

  // The layers' copy of the input, which forward makes; empty where layers take the input itself.
  [[nodiscard]] AnySpan input() const { return input_; }
  // The narrow copies; null where the layers compute on the parameters themselves.
  [[nodiscard]] ParameterCopies* copies() { return copies_ ? &*copies_ : nullptr; }

 private:
  const std::int64_t rows_;
  const DType type_;
  OwnedTensors tensors_;
  std::vector<AnySpan> outputs_;
  std::array<AnySpan, 2> gradients_;
  AnySpan input_;
  AnySpan output_;
  AnySpan output_gradient_;
  std::optional<ParameterCopies> copies_;
};

namespace {

ConstAnySpan first_input(StackActivations& kept, Span<const float> input) {
  return kept.copies() != nullptr ? ConstAnySpan(kept.input()) : ConstAnySpan(input);
}

// The number of calls that torch dispatches for the layer: the linear function, and its activation.
int calls_of(const LinearLayer& layer) { return layer.activation == Activation::kNone ? 1 : 2; }

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

LinearStack::LinearStack(LinearStackOptions options) : options_(std::move(options)) {
  TANDEM_CHECK(!options_.layers.empty(), "a stack of {} layers", options_.layers.size());
  for (const LinearLayer& layer : options_.layers) {
    LinearSegments& segments = segments_.emplace_back();
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

// Three products per layer: output, weight gradient, input gradient; the first layer's input
// gradient is not needed.
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
  const Initialiser set{on, parameters, layout_, seed, distribution};
  for (std::size_t layer = 0; layer < layers(); ++layer) {
    // The square root is exactly rounded everywhere; small integers stay integers.
    const float bound = distribution == Distribution::kUniform
                            ? 1.0F / std::sqrt(static_cast<float>(options_.layers[layer].in))
                            : 1.0F;
    const auto& [weight, bias] = segments_[layer];
    set.random(weight, bound);
    if (bias != LinearSegments::kNone) set.random(bias, bound);
  }
}

std::unique_ptr<Activations> LinearStack::make_activations(Device& device, std::int64_t batch,
                                                           Precision precision,
                                                           OutputType output_type) const {
  return std::make_unique<StackActivations>(device, options_.layers, layout_,
                                            batch * options_.positions, precision, output_type);
}

void LinearStack::forward(Executor on, const ConstTensorList& parameters, ModuleState& /*state*/,
                          Span<const float> input, Activations& activations) const {
  auto& kept = static_cast<StackActivations&>(activations);
  if (kept.copies() != nullptr) {
    kept.copies()->cast(on, parameters, Convert::Tensor{input, kept.input()});
  }
  const LayerParameters read{parameters, kept.copies()};
  ConstAnySpan x = first_input(kept, input);
  for (std::size_t layer = 0; layer < layers(); ++layer) {
    const AnySpan y = kept.output_of(layer);
    charge(on, calls_of(options_.layers[layer]));
    on.enqueue(LinearForward{.shape = shape(layer, kept.rows()),
                             .x = x,
                             .weight = read.factor(segments_[layer].weight),
                             .bias = read.factor(segments_[layer].bias),
                             .y = y,
                             .activation = options_.layers[layer].activation});
    x = y;
  }
  enqueue_cast(on, x, kept.output());
}

void LinearStack::backward(Executor on, const ConstTensorList& parameters, Span<const float> input,
                           Activations& activations, const TensorList& gradients,
                           GradientSink& sink) const {
  auto& kept = static_cast<StackActivations&>(activations);
  enqueue_cast(on, kept.output_gradient(), kept.gradient_of(layers() - 1));
  for (std::size_t layer = layers(); layer-- > 0;) {
    const AnySpan dy = kept.gradient_of(layer);
    if (options_.layers[layer].activation == Activation::kRelu) {
      on.enqueue(ReluBackward{.y = kept.output_of(layer), .dy = dy});
    }
    const bool is_first = layer == 0;
    enqueue_linear_backward(on, {parameters, kept.copies()}, {gradients, sink}, segments_[layer],
                            {.shape = shape(layer, kept.rows()),
                             .x = is_first ? first_input(kept, input) : kept.output_of(layer - 1),
                             .dy = dy,
                             .dx = is_first ? AnySpan() : kept.gradient_of(layer - 1)});
  }
}

Mlp::Mlp(std::string name, const std::vector<std::int64_t>& widths)
    : LinearStack(stack_of(std::move(name), widths)) {}

}  // namespace tandem
