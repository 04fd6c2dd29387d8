// SPDX-License-Identifier: Apache-2.0
#include "common/model/resnet_layers.h"

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

  // Charges the convolution, the norm with its count of batches, and torch's calls behind the norm.
  void unit(int index, ConstAnySpan x, const Behind& behind) const {
    const ResNetUnit& unit = pass_.plan.unit(index);
    const ResNetActivations::Unit& kept = pass_.kept.unit(index);
    const bool cuts = behind.activation == Activation::kRelu;
    charge(pass_.on, 3 + (cuts ? 1 : 0) + (behind.residual.empty() ? 0 : 1));
    pass_.image_operations().enqueue(
        pass_.on.stream, ConvolutionForward{.shape = unit.convolution_shape(pass_.kept.batch()),
                                            .x = x,
                                            .weight = pass_.factor(unit.weight()),
                                            .y = kept.before});
    pass_.on.operations.enqueue(pass_.on.stream,
                                AddScalar{.values = buffers_.at(unit.batches()), .constant = 1});
    pass_.image_operations().enqueue(
        pass_.on.stream, BatchNormForward{.shape = unit.norm_shape(pass_.kept.batch()),
                                          .x = kept.before,
                                          .residual = behind.residual,
                                          .gain = pass_.fp32(unit.gain()),
                                          .bias = pass_.fp32(unit.bias()),
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
    charge(pass_.on, 3);  // the mean, flattening, the product
    pass_.image_operations().enqueue(
        pass_.on.stream,
        AveragePoolForward{
            .shape = pass_.plan.average_pool(batch), .x = x, .y = pass_.kept.features()});
    pass_.on.operations.enqueue(pass_.on.stream,
                                LinearForward{.shape = pass_.plan.head(batch),
                                              .x = pass_.kept.features(),
                                              .weight = pass_.factor(pass_.plan.head_weight()),
                                              .bias = pass_.factor(pass_.plan.head_bias()),
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
    kept.copies()->cast(on, parameters);
    on.operations.enqueue(on.stream, Convert{.in = images, .out = kept.input()});
  }
  const Forward forward(pass, buffers);
  forward.unit(0, pass.input(), {});
  charge(on);
  pass.image_operations().enqueue(on.stream, MaxPoolForward{.shape = plan.max_pool(kept.batch()),
                                                            .x = kept.unit(0).after,
                                                            .y = kept.pooled()});
  const std::size_t blocks = plan.blocks().size();
  for (std::size_t block = 0; block < blocks; ++block) forward.block(block);
  forward.head(pass.input_of(blocks));
  if (kept.copies() == nullptr) return;
  on.operations.enqueue(on.stream, Convert{.in = kept.logits(), .out = kept.output()});
}

}  // namespace tandem
