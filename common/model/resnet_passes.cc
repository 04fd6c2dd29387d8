// SPDX-License-Identifier: Apache-2.0
#include "common/model/resnet_passes.h"

#include <utility>

namespace tandem {

namespace {

class Forward {
 public:
  Forward(const ResNetPass& pass, const TensorList& buffers) : pass_(pass), buffers_(buffers) {}

  // The operations fused behind a unit's norm.
  struct Behind {
    Activation activation = Activation::kRelu;
    ConstAnySpan residual{};
  };

  // Charges the modules (convolution, norm, ReLU) and the operations (the norm's count of batches,
  // the addition of the residual).
  void unit(int index, ConstAnySpan x, const Behind& behind) const {
    const ResNetUnit& unit = pass_.plan.unit(index);
    const ResNetActivations::Unit& kept = pass_.kept.unit(index);
    const bool cuts = behind.activation == Activation::kRelu;
    charge(pass_.on, cuts ? 3 : 2);
    charge(pass_.on, behind.residual.empty() ? 1 : 2, DispatchKind::kOperation);
    pass_.on.enqueue(ConvolutionForward{.shape = unit.convolution_shape(pass_.kept.batch()),
                                        .x = x,
                                        .weight = pass_.parameters.factor(unit.weight()),
                                        .y = kept.before});
    pass_.on.enqueue(AddScalar{.values = buffers_.at(unit.batches()), .constant = 1});
    pass_.on.enqueue(BatchNormForward{.shape = unit.norm_shape(pass_.kept.batch()),
                                      .x = kept.before,
                                      .residual = behind.residual,
                                      .gain = pass_.parameters.fp32(unit.gain()),
                                      .bias = pass_.parameters.fp32(unit.bias()),
                                      .y = kept.after,
                                      .running_mean = buffers_.at(unit.running_mean()),
                                      .running_variance = buffers_.at(unit.running_variance()),
                                      .mean = kept.mean,
                                      .rstd = kept.rstd,
                                      .activation = behind.activation});
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
    kept.copies()->cast(on, parameters.tensors);
    on.enqueue(Convert{.in = images, .out = kept.input()});
  }
  const Forward forward(pass, buffers);
  forward.unit(0, pass.input(), {});
  charge(on);
  on.enqueue(MaxPoolForward{
      .shape = plan.max_pool(kept.batch()), .x = kept.unit(0).after, .y = kept.pooled()});
  const std::size_t blocks = plan.blocks().size();
  for (std::size_t block = 0; block < blocks; ++block) forward.block(block);
  forward.head(pass.input_of(blocks));
  if (kept.copies() == nullptr) return;
  on.enqueue(Convert{.in = kept.logits(), .out = kept.output()});
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
    if (kept.copies() != nullptr) {
      pass_.on.enqueue(Convert{.in = kept.output_gradient(), .out = dlogits});
    }
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
  struct Beside {
    bool cuts = true;  // cuts off where ReLU was off
    ConstAnySpan dabove{};
    AnySpan dresidual{};
  };

  [[nodiscard]] AnySpan buffer(std::size_t number, std::int64_t count) const {
    return pass_.kept.gradient(number, count);
  }

  // Runs a norm's backward in place, in buffer `at`.
  void norm(int index, std::size_t at, const Beside& beside) const {
    norm_gradients(index, at, beside);
    announce_norm(index);
  }

  void announce_norm(int index) const {
    const ResNetUnit& unit = pass_.plan.unit(index);
    gradients_.sink.gradient_ready(unit.gain());
    gradients_.sink.gradient_ready(unit.bias());
  }

  void norm_gradients(int index, std::size_t at, const Beside& beside) const {
    const ResNetUnit& unit = pass_.plan.unit(index);
    const ResNetActivations::Unit& kept = pass_.kept.unit(index);
    const AnySpan gradient = buffer(at, kept.before.size());
    pass_.on.enqueue(BatchNormBackward{.shape = unit.norm_shape(pass_.kept.batch()),
                                       .x = kept.before,
                                       .y = beside.cuts ? kept.after : AnySpan(),
                                       .dy = gradient,
                                       .dabove = beside.dabove,
                                       .gain = pass_.parameters.fp32(unit.gain()),
                                       .mean = kept.mean,
                                       .rstd = kept.rstd,
                                       .dx = gradient,
                                       .dresidual = beside.dresidual,
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

}  // namespace tandem
