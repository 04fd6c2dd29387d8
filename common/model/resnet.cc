// SPDX-License-Identifier: Apache-2.0
#include "common/model/resnet.h"

#include <cmath>
#include <utility>

#include "common/model/passes.h"
#include "common/model/resnet_plan.h"

namespace tandem {

// The operands of both passes of a ResNet. Borrows all of them for the length of a call.
struct ResNetPass {
  Executor on;
  const ResNetPlan& plan;
  LayerParameters parameters;
  Span<const float> images;  // (batch, height, width, 3), or as ImageOptions says
  ResNetActivations& kept;

  // The first convolution's input.
  [[nodiscard]] ConstAnySpan input() const {
    return kept.copies() != nullptr ? ConstAnySpan(kept.input()) : ConstAnySpan(images);
  }

  // The input of a block.
  [[nodiscard]] ConstAnySpan input_of(std::size_t block) const {
    return block == 0 ? kept.pooled() : kept.unit(plan.blocks()[block - 1].expand).after;
  }
};

namespace {

class Forward {
 public:
  Forward(const ResNetPass& pass, const TensorList& buffers) : pass_(pass), buffers_(buffers) {}

  // The operations fused behind a unit's norm.
  struct FusedWork {
    Activation activation = Activation::kRelu;
    ConstAnySpan residual{};
  };

  // Charges the modules (convolution, norm, ReLU) and the operations (the norm's count of batches,
  // the addition of the residual).
  void unit(int index, ConstAnySpan x, const FusedWork& fused) const {
    const ResNetUnit& unit = pass_.plan.unit(index);
    const ResNetActivations::Unit& kept = pass_.kept.unit(index);
    const bool cuts = fused.activation == Activation::kRelu;
    charge(pass_.on, cuts ? 3 : 2);
    charge(pass_.on, fused.residual.empty() ? 1 : 2, DispatchKind::kOperation);
    pass_.on.enqueue(ConvolutionForward{.shape = unit.convolution_shape(pass_.kept.batch()),
                                        .x = x,
                                        .weight = pass_.parameters.factor(unit.weight()),
                                        .y = kept.before});
    pass_.on.enqueue(BatchNormForward{.shape = unit.norm_shape(pass_.kept.batch()),
                                      .x = kept.before,
                                      .residual = fused.residual,
                                      .gain = pass_.parameters.fp32(unit.gain()),
                                      .bias = pass_.parameters.fp32(unit.bias()),
                                      .y = kept.after,
                                      .running_mean = buffers_.at(unit.running_mean()),
                                      .running_variance = buffers_.at(unit.running_variance()),
                                      .mean = kept.mean,
                                      .rstd = kept.rstd,
                                      .activation = fused.activation});
  }

  void block(std::size_t index) const {
    const ResNetBlock& block = pass_.plan.blocks()[index];
    const ConstAnySpan x = pass_.input_of(index);
    unit(block.reduce, x, {});
    unit(block.spatial, pass_.kept.unit(block.reduce).after, {});
    ConstAnySpan residual = x;
    if (block.has_downsample()) {
      unit(block.downsample, x, {.activation = Activation::kNone});
      residual = pass_.kept.unit(block.downsample).after;
    }
    unit(block.expand, pass_.kept.unit(block.spatial).after, {.residual = residual});
  }

  void head(ConstAnySpan x) const {
    const std::int64_t batch = pass_.kept.batch();
    charge(pass_.on, 2);                            // the mean, the product
    charge(pass_.on, 1, DispatchKind::kOperation);  // flattening
    pass_.on.enqueue(AveragePoolForward{
        .shape = pass_.plan.average_pool(batch), .x = x, .y = pass_.kept.features()});
    pass_.on.enqueue(LinearForward{.shape = pass_.plan.head(batch),
                                   .x = pass_.kept.features(),
                                   .weight = pass_.parameters.factor(pass_.plan.head_weight()),
                                   .bias = pass_.parameters.factor(pass_.plan.head_bias()),
                                   .y = pass_.kept.logits()});
  }

 private:
  const ResNetPass& pass_;
  const TensorList& buffers_;
};

}  // namespace

void resnet_forward(const ResNetPass& pass, const TensorList& buffers) {
  const auto& [on, plan, parameters, images, kept] = pass;
  if (kept.copies() != nullptr) {
    kept.copies()->cast(on, parameters.tensors, Convert::Tensor{images, kept.input()});
  }
  AddScalar batches{.constant = 1};
  for (const ResNetUnit& unit : plan.units()) batches.tensors.push_back(buffers.at(unit.batches()));
  on.enqueue(batches);
  const Forward forward(pass, buffers);
  forward.unit(0, pass.input(), {});
  charge(on);
  on.enqueue(MaxPoolForward{
      .shape = plan.max_pool(kept.batch()), .x = kept.unit(0).after, .y = kept.pooled()});
  const std::size_t blocks = plan.blocks().size();
  for (std::size_t block = 0; block < blocks; ++block) forward.block(block);
  forward.head(pass.input_of(blocks));
  enqueue_cast(on, kept.logits(), kept.output());
}

namespace {

// The roles of the buffers, by number.
struct Roles {
  std::size_t main = 0;   // gradient through the block's convolutions
  std::size_t above = 1;  // gradient past the convolutions
  std::size_t free = 2;
};

// Forward's operations in reverse. The gradient of a block's output lies in two buffers, one for
// each way that leads on from the block, and the norm below adds the two; a third buffer is free.
// Gradients are announced as autograd finishes them: in a block with a downsample the downsample's
// first, of a norm the weight, of the head the bias.
class Backward {
 public:
  Backward(const ResNetPass& pass, const GradientPlaces& gradients)
      : pass_(pass), gradients_(gradients) {}

  // Turns the logits' gradient into that of the last block's output.
  void head() const {
    const ResNetPlan& plan = pass_.plan;
    ResNetActivations& kept = pass_.kept;
    const AveragePoolShape pool = plan.average_pool(kept.batch());
    const AnySpan dlogits = kept.logits();
    enqueue_cast(pass_.on, kept.output_gradient(), dlogits);
    enqueue_linear_backward(
        pass_.on, pass_.parameters, gradients_, {plan.head_weight(), plan.head_bias()},
        {plan.head(kept.batch()), kept.features(), dlogits, kept.features_gradient()});
    pass_.on.enqueue(AveragePoolBackward{
        .shape = pool,
        .dy = kept.features_gradient(),
        .dx = buffer(roles_.main, pool.batch * pool.positions * pool.channels)});
  }

  // On entry the roles hold the gradients of the block's output, on return those of its input.
  void block(std::size_t index) {
    const ResNetBlock& block = pass_.plan.blocks()[index];
    const ConstAnySpan x = pass_.input_of(index);
    const bool is_last = index + 1 == pass_.plan.blocks().size();
    const std::int64_t count = pass_.kept.unit(block.expand).before.size();
    const AnySpan residual = buffer(roles_.above, count);
    // One operation with the addition behind the norm, which torch runs apart; the norm's own
    // gradients are announced in torch's order, in which forward came to the downsampling last.
    norm_gradients(block.expand, roles_.main,
                   {.dabove = is_last ? AnySpan() : residual, .dresidual = residual});
    if (block.has_downsample()) {
      norm(block.downsample, roles_.above, {.cuts = false});
      convolution(block.downsample, x, roles_.above, roles_.free);
      std::swap(roles_.above, roles_.free);
    }
    announce_norm(block.expand);
    convolution(block.expand, pass_.kept.unit(block.spatial).after, roles_.main, roles_.free);
    norm(block.spatial, roles_.free, {});
    convolution(block.spatial, pass_.kept.unit(block.reduce).after, roles_.free, roles_.main);
    norm(block.reduce, roles_.main, {});
    convolution(block.reduce, x, roles_.main, roles_.free);
    std::swap(roles_.main, roles_.free);
  }

  void stem() const {
    const MaxPoolShape shape = pass_.plan.max_pool(pass_.kept.batch());
    pass_.on.enqueue(MaxPoolBackward{.shape = shape,
                                     .x = pass_.kept.unit(0).after,
                                     .y = pass_.kept.pooled(),
                                     .dy = buffer(roles_.main, shape.output_count()),
                                     .dabove = buffer(roles_.above, shape.output_count()),
                                     .dx = buffer(roles_.free, shape.input_count())});
    norm(0, roles_.free, {});
    weight(0, pass_.input(), roles_.free);
  }

 private:
  // The operands of a norm's backward beside the gradient of the norm's result.
  struct OtherOperands {
    bool cuts = true;  // cuts off where ReLU was off
    ConstAnySpan dabove{};
    AnySpan dresidual{};
  };

  [[nodiscard]] AnySpan buffer(std::size_t number, std::int64_t count) const {
    return pass_.kept.gradient(number, count);
  }

  // Runs a norm's backward in place, in buffer `at`.
  void norm(int index, std::size_t at, const OtherOperands& others) const {
    norm_gradients(index, at, others);
    announce_norm(index);
  }

  void announce_norm(int index) const {
    const ResNetUnit& unit = pass_.plan.unit(index);
    gradients_.sink.gradient_ready(unit.gain());
    gradients_.sink.gradient_ready(unit.bias());
  }

  void norm_gradients(int index, std::size_t at, const OtherOperands& others) const {
    const ResNetUnit& unit = pass_.plan.unit(index);
    const ResNetActivations::Unit& kept = pass_.kept.unit(index);
    const AnySpan gradient = buffer(at, kept.before.size());
    pass_.on.enqueue(BatchNormBackward{.shape = unit.norm_shape(pass_.kept.batch()),
                                       .x = kept.before,
                                       .y = others.cuts ? kept.after : AnySpan(),
                                       .dy = gradient,
                                       .dabove = others.dabove,
                                       .gain = pass_.parameters.fp32(unit.gain()),
                                       .mean = kept.mean,
                                       .rstd = kept.rstd,
                                       .dx = gradient,
                                       .dresidual = others.dresidual,
                                       .dgain = gradients_.of(unit.gain()),
                                       .dbias = gradients_.of(unit.bias())});
  }

  void convolution(int index, ConstAnySpan x, std::size_t from, std::size_t to) const {
    const ResNetUnit& unit = pass_.plan.unit(index);
    const ConvolutionShape shape = unit.convolution_shape(pass_.kept.batch());
    pass_.on.enqueue(ConvolutionBackwardInput{.shape = shape,
                                              .dy = buffer(from, shape.output_count()),
                                              .weight = pass_.parameters.factor(unit.weight()),
                                              .dx = buffer(to, shape.input_count())});
    weight(index, x, from);
  }

  void weight(int index, ConstAnySpan x, std::size_t from) const {
    const ResNetUnit& unit = pass_.plan.unit(index);
    const ConvolutionShape shape = unit.convolution_shape(pass_.kept.batch());
    pass_.on.enqueue(ConvolutionBackwardWeight{.shape = shape,
                                               .x = x,
                                               .dy = buffer(from, shape.output_count()),
                                               .dweight = gradients_.of(unit.weight())});
    gradients_.sink.gradient_ready(unit.weight());
  }

  const ResNetPass& pass_;
  const GradientPlaces& gradients_;
  Roles roles_;
};

}  // namespace

void resnet_backward(const ResNetPass& pass, const GradientPlaces& gradients) {
  Backward backward(pass, gradients);
  backward.head();
  for (std::size_t block = pass.plan.blocks().size(); block-- > 0;) backward.block(block);
  backward.stem();
}

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
                                                      Precision precision,
                                                      OutputType output_type) const {
  return std::make_unique<ResNetActivations>(device, plan_, layout_, batch, precision, output_type);
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
