// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/model/model.h"
#include "common/model/parameter_layout.h"

namespace tandem {

// One layer: y = activation(x . weight^T + bias), weight (out, in), bias (out).
struct LinearLayer {
  std::string weight;  // the parameters' names
  std::string bias;    // empty: no bias
  std::int64_t in = 0;
  std::int64_t out = 0;
  Activation activation = Activation::kNone;
};

struct LinearStackOptions {
  std::string name{};
  std::vector<LinearLayer> layers{};
  std::int64_t positions = 1;  // rows per sample, each of which goes through the layers on its own
  int modules = 1;             // number of modules of the equivalent torch module
};

class StackActivations;

// Linear layers one after the other, the first one's weight and bias registered first. Weights and
// biases start uniform in +-1/sqrt(fan in), as torch's Linear.
class LinearStack : public Model {
 public:
  explicit LinearStack(LinearStackOptions options);

  [[nodiscard]] std::string name() const override { return options_.name; }
  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  [[nodiscard]] std::int64_t input_width() const override;
  [[nodiscard]] std::int64_t output_width() const override;
  [[nodiscard]] int module_count() const override { return options_.modules; }
  [[nodiscard]] double flops_per_sample() const override;
  void initialise(Executor on, const TensorList& parameters, std::uint64_t seed,
                  Distribution distribution) const override;
  [[nodiscard]] std::unique_ptr<Activations> make_activations(
      Device& device, std::int64_t batch, Precision precision,
      OutputType output_type) const override;
  void forward(Executor on, const ConstTensorList& parameters, ModuleState& state,
               Span<const float> input, Activations& activations) const override;
  void backward(Executor on, const ConstTensorList& parameters, Span<const float> input,
                Activations& activations, const TensorList& gradients,
                GradientSink& sink) const override;

 private:
  [[nodiscard]] std::size_t layers() const { return options_.layers.size(); }
  [[nodiscard]] LinearShape shape(std::size_t layer, std::int64_t rows) const;

  const LinearStackOptions options_;
  std::vector<LinearSegments> segments_;  // segments by layer
  ParameterLayout layout_;
};

// Linear layers with ReLU between them. widths[0] is the input, widths[i] the i-th layer's output;
// layer i holds weight (widths[i+1], widths[i]) and bias (widths[i+1]), registered in that order.
class Mlp final : public LinearStack {
 public:
  Mlp(std::string name, const std::vector<std::int64_t>& widths);
};

}  // namespace tandem
