// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/model/model.h"

namespace tandem {

// Linear layers with ReLU between them. widths[0] is the input, widths[i] the i-th layer's output;
// layer i holds weight (widths[i+1], widths[i]) and bias (widths[i+1]), registered in that order.
// Weights and biases start uniform in +-1/sqrt(fan in), as torch's Linear.
class Mlp final : public Model {
 public:
  Mlp(std::string name, std::vector<std::int64_t> widths);

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  [[nodiscard]] std::int64_t input_width() const override { return widths_.front(); }
  [[nodiscard]] std::int64_t output_width() const override { return widths_.back(); }
  [[nodiscard]] double flops_per_sample() const override;
  void initialise(Executor on, const TensorList& parameters, std::uint64_t seed,
                  Distribution distribution) const override;
  [[nodiscard]] std::unique_ptr<Activations> make_activations(Device& device,
                                                              std::int64_t batch) const override;
  void forward(Executor on, const ConstTensorList& parameters, Span<const float> input,
               Activations& activations) const override;
  void backward(Executor on, const ConstTensorList& parameters, Span<const float> input,
                Activations& activations, const TensorList& gradients,
                GradientSink& sink) const override;

 private:
  [[nodiscard]] int layers() const { return static_cast<int>(widths_.size()) - 1; }
  [[nodiscard]] LinearShape shape(int layer, std::int64_t batch) const;

  const std::string name_;
  const std::vector<std::int64_t> widths_;
  ParameterLayout layout_;
};

}  // namespace tandem
