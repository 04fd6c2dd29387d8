// SPDX-License-Identifier: Apache-2.0
#include "common/model/resnet.h"

#include <cmath>
#include <utility>

#include "common/model/resnet_passes.h"

namespace tandem {
namespace {

// The scale at which uniform numbers or small integers have the variance 2 / fan: the variance of
// [-1, 1) is 1/3, that of -1, 0 and 1 is 2/3. Roots and quotients are exactly rounded everywhere.
float scale_for(std::int64_t fan, Distribution distribution) {
  return std::sqrt((distribution == Distribution::kUniform ? 6.0F : 3.0F) /
                   static_cast<float>(fan));
}

}  // namespace

ResNet::ResNet(std::string name, const ResNetSizes& sizes) : name_(std::move(name)), plan_(sizes) {
  for (const ResNetUnit& unit : plan_.units()) {
    const ConvolutionShape& s = unit.shape;
    layout_.add(unit.convolution + ".weight", {s.out, s.kernel, s.kernel, s.in});
    layout_.add(unit.norm + ".weight", {s.out});
    layout_.add(unit.norm + ".bias", {s.out});
    buffers_.add(unit.norm + ".running_mean", {s.out});
    buffers_.add(unit.norm + ".running_var", {s.out});
    buffers_.add(unit.norm + ".num_batches_tracked", {1});
  }
  const LinearShape head = plan_.head(1);
  layout_.add("fc.weight", {head.out, head.in});
  layout_.add("fc.bias", {head.out});
}

int ResNet::module_count() const {
  int count = 7 + static_cast<int>(plan_.stages());
  for (const ResNetBlock& block : plan_.blocks()) count += block.has_downsample() ? 11 : 8;
  return count;
}

std::int64_t ResNet::input_width() const { return plan_.stem().shape.input_count(); }

Objective ResNet::objective() const {
  return {.kind = ObjectiveKind::kCrossEntropy, .target_width = 1, .classes = output_width()};
}

double ResNet::flops_per_sample() const {
  auto forward = static_cast<double>(product_flops(plan_.head(1)));
  for (const ResNetUnit& unit : plan_.units()) {
    forward += static_cast<double>(convolution_flops(unit.shape));
  }
  return 3 * forward - static_cast<double>(convolution_flops(plan_.stem().shape));
}

void ResNet::initialise(Executor on, const TensorList& parameters, std::uint64_t seed,
                        Distribution distribution) const {
  const Initialiser set{on, parameters, layout_, seed, distribution};
  for (const ResNetUnit& unit : plan_.units()) {
    const std::int64_t fan_out = unit.shape.out * unit.shape.kernel * unit.shape.kernel;
    set.random(unit.weight(), scale_for(fan_out, distribution));
    set.constant(unit.gain(), 1);
    set.constant(unit.bias(), 0);
  }
  // The weights of torch's Linear have the variance 1 / (3 in).
  const float scale = scale_for(6 * plan_.head(1).in, distribution);
  set.random(plan_.head_weight(), scale);
  set.random(plan_.head_bias(), scale);
}

void ResNet::initialise_buffers(Executor on, const TensorList& buffers) const {
  for (const ResNetUnit& unit : plan_.units()) {
    on.enqueue(Fill{.values = buffers.at(unit.running_variance()), .constant = 1});
  }
}

std::unique_ptr<Activations> ResNet::make_activations(Device& device, std::int64_t batch,
                                                      Precision precision) const {
  return std::make_unique<ResNetActivations>(device, plan_, layout_, batch, precision);
}

void ResNet::forward(Executor on, const ConstTensorList& parameters, ModuleState& state,
                     Span<const float> input, Activations& activations) const {
  auto& kept = static_cast<ResNetActivations&>(activations);
  resnet_forward({on, plan_, {parameters, kept.copies()}, input, kept}, state.buffers);
}

void ResNet::backward(Executor on, const ConstTensorList& parameters, Span<const float> input,
                      Activations& activations, const TensorList& gradients,
                      GradientSink& sink) const {
  auto& kept = static_cast<ResNetActivations&>(activations);
  resnet_backward({on, plan_, {parameters, kept.copies()}, input, kept}, {gradients, sink});
}

std::vector<std::string> resnet_names() { return {"resnet-tiny", "resnet50"}; }

std::unique_ptr<Model> make_resnet(const std::string& name) {
  if (name == "resnet50") {
    const std::vector<ResNetStage> stages{{3, 64, 1}, {4, 128, 2}, {6, 256, 2}, {3, 512, 2}};
    return std::make_unique<ResNet>(
        name, ResNetSizes{.image = 224, .classes = 1000, .stem = 64, .stages = stages});
  }
  if (name == "resnet-tiny") {
    const std::vector<ResNetStage> stages{{2, 4, 1}, {1, 8, 2}};
    return std::make_unique<ResNet>(
        name, ResNetSizes{.image = 16, .classes = 10, .stem = 8, .stages = stages});
  }
  return nullptr;
}

}  // namespace tandem
