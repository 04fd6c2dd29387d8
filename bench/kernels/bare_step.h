// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/kernels/device_bench.h"
#include "common/model/model.h"

namespace tandem::bench {

// The products of a step of a model, one bare call each, without bias, activation, casts, loss or
// optimizer: the time of a step that were only products. Products are in the bench's precision; on
// the host oneDNN's sgemm computes in fp32 always. Operands are as many and as large as in the step
// - activations and their gradients, weights and gradients of weights of each layer - and hold
// random numbers.
class BareStep {
 public:
  // Throws a usage error for a model that is more than linear layers one after the other.
  BareStep(DeviceBench& bench, const Model& model, std::int64_t batch);

  void enqueue();

  // The FLOPs of all products, on `batch` samples.
  [[nodiscard]] double flops() const;

 private:
  struct Layer {
    LinearShape shape;
    AnySpan x;   // the layer's input
    AnySpan dx;  // the input's gradient; empty in the first layer, which needs none
    AnySpan weight;
    Span<float> dweight;
  };

  template <class Op>
  void bare(const Op& op);

  DeviceBench& bench_;
  std::vector<Layer> layers_;
  AnySpan output_;
  AnySpan output_gradient_;
};

// The linear layers of `model` on `batch` samples, in order. Throws a usage error as BareStep does.
[[nodiscard]] std::vector<LinearShape> linear_layers(const Model& model, std::int64_t batch);

}  // namespace tandem::bench
