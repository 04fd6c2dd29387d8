// SPDX-License-Identifier: Apache-2.0
#include "common/model/mlp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace tandem {
namespace {

// Registration order within a layer.
constexpr int kWeight = 0;
constexpr int kBias = 1;

std::size_t segment(int layer, int which) { return static_cast<std::size_t>(2 * layer + which); }

// Outputs of every layer, and two gradient buffers that take turns: once a layer's input gradient
// is made, its output gradient is free, as it is with torch's caching allocator.
class MlpActivations final : public Activations {
 public:
  MlpActivations(Device& device, const std::vector<std::int64_t>& widths, std::int64_t batch)
      : batch_(batch), widths_(widths) {
    const std::int64_t widest = *std::max_element(widths.begin() + 1, widths.end());
    for (std::size_t layer = 1; layer < widths.size(); ++layer) {
      outputs_.push_back(allocate(device, batch * widths[layer]));
    }
    for (auto& gradient : gradients_) gradient = allocate(device, batch * widest);
  }

  [[nodiscard]] std::int64_t batch() const { return batch_; }
  [[nodiscard]] Span<float> output() override { return output_of(last()); }
  [[nodiscard]] Span<float> output_gradient() override { return gradient_of(last()); }

  [[nodiscard]] Span<float> output_of(int layer) {
    return outputs_[static_cast<std::size_t>(layer)]->as<float>(count(layer));
  }
  // Of the layer's output.
  [[nodiscard]] Span<float> gradient_of(int layer) {
    return gradients_[static_cast<std::size_t>(layer % 2)]->as<float>(count(layer));
  }

 private:
  static std::unique_ptr<Buffer> allocate(Device& device, std::int64_t elements) {
    return device.allocate(Bytes{elements * static_cast<std::int64_t>(sizeof(float))});
  }
  [[nodiscard]] int last() const { return static_cast<int>(outputs_.size()) - 1; }
  [[nodiscard]] std::int64_t count(int layer) const {
    return batch_ * widths_[static_cast<std::size_t>(layer) + 1];
  }

  const std::int64_t batch_;
  const std::vector<std::int64_t> widths_;
  std::vector<std::unique_ptr<Buffer>> outputs_;
  std::array<std::unique_ptr<Buffer>, 2> gradients_;
};

}  // namespace

Mlp::Mlp(std::string name, std::vector<std::int64_t> widths)
    : name_(std::move(name)), widths_(std::move(widths)) {
  TANDEM_CHECK(widths_.size() >= 2, "an MLP of {} widths", widths_.size());
  for (int layer = 0; layer < layers(); ++layer) {
    const LinearShape s = shape(layer, 0);
    layout_.add(fmt::format("layer{}.weight", layer), {s.out, s.in});
    layout_.add(fmt::format("layer{}.bias", layer), {s.out});
  }
}

LinearShape Mlp::shape(int layer, std::int64_t batch) const {
  const auto index = static_cast<std::size_t>(layer);
  return {.batch = batch, .in = widths_[index], .out = widths_[index + 1]};
}

// Three products per layer: output, weight gradient, input gradient; the first layer has no input
// gradient, since nobody asks for it.
double Mlp::flops_per_sample() const {
  double flops = 0;
  for (int layer = 0; layer < layers(); ++layer) {
    const LinearShape s = shape(layer, 1);
    const double product = 2.0 * static_cast<double>(s.in) * static_cast<double>(s.out);
    flops += product * (layer == 0 ? 2 : 3);
  }
  return flops;
}

void Mlp::initialise(Executor on, const TensorList& parameters, std::uint64_t seed,
                     Distribution distribution) const {
  for (int layer = 0; layer < layers(); ++layer) {
    // The square root is exactly rounded everywhere; small integers stay integers.
    const float bound = distribution == Distribution::kUniform
                            ? 1.0F / std::sqrt(static_cast<float>(shape(layer, 0).in))
                            : 1.0F;
    for (const int which : {kWeight, kBias}) {
      const std::size_t index = segment(layer, which);
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

std::unique_ptr<Activations> Mlp::make_activations(Device& device, std::int64_t batch) const {
  return std::make_unique<MlpActivations>(device, widths_, batch);
}

void Mlp::forward(Executor on, const ConstTensorList& parameters, Span<const float> input,
                  Activations& activations) const {
  auto& kept = static_cast<MlpActivations&>(activations);
  Span<const float> x = input;
  for (int layer = 0; layer < layers(); ++layer) {
    const bool hidden = layer + 1 < layers();
    const Span<float> y = kept.output_of(layer);
    on.operations.enqueue(
        on.stream, LinearForward{.shape = shape(layer, kept.batch()),
                                 .x = x,
                                 .weight = parameters[segment(layer, kWeight)],
                                 .bias = parameters[segment(layer, kBias)],
                                 .y = y,
                                 .activation = hidden ? Activation::kRelu : Activation::kNone});
    x = y;
  }
}

void Mlp::backward(Executor on, const ConstTensorList& parameters, Span<const float> input,
                   Activations& activations, const TensorList& gradients,
                   GradientSink& sink) const {
  auto& kept = static_cast<MlpActivations&>(activations);
  for (int layer = layers() - 1; layer >= 0; --layer) {
    const LinearShape s = shape(layer, kept.batch());
    const Span<const float> dy = kept.gradient_of(layer);
    const Span<const float> x = layer == 0 ? input : kept.output_of(layer - 1);
    if (layer > 0) {
      on.operations.enqueue(on.stream,
                            LinearBackwardInput{.shape = s,
                                                .dy = dy,
                                                .weight = parameters[segment(layer, kWeight)],
                                                .dx = kept.gradient_of(layer - 1)});
    }
    on.operations.enqueue(on.stream,
                          LinearBackwardWeight{.shape = s,
                                               .x = x,
                                               .dy = dy,
                                               .dweight = gradients[segment(layer, kWeight)],
                                               .dbias = gradients[segment(layer, kBias)]});
    // Like autograd: a layer's node makes all its gradients, then hands them on, bias first.
    sink.gradient_ready(static_cast<int>(segment(layer, kBias)));
    sink.gradient_ready(static_cast<int>(segment(layer, kWeight)));
    if (layer > 0) {
      on.operations.enqueue(on.stream, ReluBackward{.y = x, .dy = kept.gradient_of(layer - 1)});
    }
  }
}

}  // namespace tandem
