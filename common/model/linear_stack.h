// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/model/model.h"
#include "common/model/parameter_copies.h"
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
  [[nodiscard]] std::unique_ptr<Activations> make_activations(Device& device, std::int64_t batch,
                                                              Precision precision) const override;
  void forward(Executor on, const ConstTensorList& parameters, ModuleState& state,
               Span<const float> input, Activations& activations) const override;
  void backward(Executor on, const ConstTensorList& parameters, Span<const float> input,
                Activations& activations, const TensorList& gradients,
                GradientSink& sink) const override;

 private:
  static constexpr int kNoBias = -1;

  // The parameters of a layer, by segment.
  struct Segments {
    int weight = 0;
    int bias = kNoBias;
  };

  [[nodiscard]] std::size_t layers() const { return options_.layers.size(); }
  [[nodiscard]] LinearShape shape(std::size_t layer, std::int64_t rows) const;
  void backward_layer(Executor on, std::size_t layer, const ConstTensorList& parameters,
                      Span<const float> input, StackActivations& kept,
                      const TensorList& gradients) const;

  const LinearStackOptions options_;
  std::vector<Segments> segments_;  // segments by layer
  ParameterLayout layout_;
};

// The copies between a model's fp32 ends and layers that compute in another type, on one device:
// narrow copies of the parameters and the input, made by each forward, and fp32 copies of the
// output and of the output's gradient. Owns their memory; used with one stream at a time.
class CastCopies {
 public:
  // `inputs` and `outputs` are numbers of elements of a batch.
  CastCopies(Device& device, DType type, const ParameterLayout& layout, std::int64_t inputs,
             std::int64_t outputs);

  // Each call enqueues casts: cast_in of the parameters and the input to copies, cast_out of
  // `output` to fp32, cast_gradient of output_gradient() to `gradient`, where backward starts.
  void cast_in(Executor on, const ConstTensorList& parameters, Span<const float> input);
  void cast_out(Executor on, ConstAnySpan output);
  void cast_gradient(Executor on, AnySpan gradient);

  [[nodiscard]] ConstAnySpan parameter(int segment) const { return parameters_.of(segment); }
  [[nodiscard]] ConstAnySpan input() const { return input_; }
  [[nodiscard]] Span<float> output() const { return output_; }
  [[nodiscard]] Span<float> output_gradient() const { return output_gradient_; }

 private:
  ParameterCopies parameters_;
  OwnedTensors tensors_;
  const AnySpan input_;
  const Span<float> output_;
  const Span<float> output_gradient_;
};

// The outputs of every layer, and two gradient buffers that take turns: once a layer's input
// gradient is made, its output gradient is free, as with torch's caching allocator. In bf16 all
// these tensors are bf16, with copies at the fp32 ends.
class StackActivations final : public Activations {
 public:
  StackActivations(Device& device, const std::vector<LinearLayer>& layers,
                   const ParameterLayout& layout, std::int64_t rows, Precision precision);

  [[nodiscard]] Span<float> output() override;
  [[nodiscard]] Span<float> output_gradient() override;

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] AnySpan output_of(std::size_t layer) const;
  [[nodiscard]] AnySpan gradient_of(std::size_t layer) const;  // gradient of the layer's output

  // The copies at the ends; null where the layers compute on the parameters themselves.
  [[nodiscard]] CastCopies* copies() { return copies_ ? &*copies_ : nullptr; }

 private:
  [[nodiscard]] std::size_t last() const { return widths_.size() - 1; }

  const std::int64_t rows_;
  const DType type_;
  std::vector<std::int64_t> widths_;  // widths of the outputs
  std::vector<std::unique_ptr<Buffer>> outputs_;
  std::array<std::unique_ptr<Buffer>, 2> gradients_;
  std::optional<CastCopies> copies_;
};

// Linear layers with ReLU between them. widths[0] is the input, widths[i] the i-th layer's output;
// layer i holds weight (widths[i+1], widths[i]) and bias (widths[i+1]), registered in that order.
class Mlp final : public LinearStack {
 public:
  Mlp(std::string name, const std::vector<std::int64_t>& widths);
};

}  // namespace tandem
