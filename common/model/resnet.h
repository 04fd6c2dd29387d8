// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/model/model.h"
#include "common/model/resnet_plan.h"

namespace tandem {

// torchvision's ResNet of bottleneck blocks, trained for classes by cross-entropy, with
// torchvision's names of parameters and buffers. A sample is (height, width, 3), and weights of
// convolutions are (out, kernel, kernel, in); with channels first (ImageOptions) channels lie in
// front of height and width, as torch names them.
//
// In bf16 convolutions, ReLU, pooling and the head, with their kept activations, are bf16, as under
// torch.autocast; parameters and statistics of the norms and the loss are fp32.
// num_batches_tracked, a whole number in torch, is held as fp32, which is exact up to 2^24 steps.
//
// Weights start with torchvision's deviations, but uniform: convolutions with sqrt(2 / (out
// kernel^2)), the head as torch's Linear. Gains start as 1, biases as 0, also with small integers.
class ResNet final : public Model {
 public:
  ResNet(std::string name, const ResNetSizes& sizes);

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  [[nodiscard]] const ParameterLayout& buffers() const override { return buffers_; }
  [[nodiscard]] bool needs_images() const override { return true; }
  [[nodiscard]] bool depends_on_shard() const override { return true; }

  // The modules of a block: the block, three convolutions with their norms and ReLU, and for a
  // downsample the sequence, its convolution and its norm. The other modules: the root, conv1, bn1,
  // relu, maxpool, avgpool, fc, and the sequence of each stage.
  [[nodiscard]] int module_count() const override;
  [[nodiscard]] std::int64_t input_width() const override;
  [[nodiscard]] std::int64_t output_width() const override { return plan_.head(1).out; }
  [[nodiscard]] Objective objective() const override;

  // 3 (sum of convolution_flops() + product_flops() of the head) - convolution_flops() of the first
  // convolution, whose input wants no gradient: each product costs once in forward and twice in
  // backward.
  [[nodiscard]] double flops_per_sample() const override;
  void initialise(Executor on, const TensorList& parameters, std::uint64_t seed,
                  Distribution distribution) const override;
  // Sets running_var to 1.
  void initialise_buffers(Executor on, const TensorList& buffers) const override;
  [[nodiscard]] std::unique_ptr<Activations> make_activations(
      Device& device, std::int64_t batch, Precision precision,
      OutputType output_type) const override;
  void forward(Executor on, const ConstTensorList& parameters, ModuleState& state,
               Span<const float> input, Activations& activations) const override;
  void backward(Executor on, const ConstTensorList& parameters, Span<const float> input,
                Activations& activations, const TensorList& gradients,
                GradientSink& sink) const override;

  [[nodiscard]] const ResNetPlan& plan() const { return plan_; }

 private:
  const std::string name_;
  const ResNetPlan plan_;
  ParameterLayout layout_;
  ParameterLayout buffers_;
};

// The names resnet50, and resnet-tiny, which is for tests: 16 x 16 images of 10 classes, three
// blocks.
[[nodiscard]] std::vector<std::string> resnet_names();

// The ResNet of one of these names; null for any other.
[[nodiscard]] std::unique_ptr<Model> make_resnet(const std::string& name);

}  // namespace tandem
