// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/kernels/comparison.h"
#include "bench/kernels/options.h"
#include "common/model/model.h"
#include "common/runtime/platform.h"
#include "common/stats/estimate.h"

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

// The speed of a step of `single` relative to the bare products of the step's shapes: FLOP/s over
// FLOP/s of the same FLOPs, which is the bare products' time over the step's.
struct StepShare {
  stats::Estimate products;  // share of the phases forward and backward
  stats::Estimate whole;     // share of the whole step, by the host's clock
  double bare_gflops = 0;    // GFLOP/s of the bare products, in the median over all pairs
};

// The share in words: "forward and backward at 0.9312 of the FLOP/s of bare products (95 % interval
// 0.9301 to 0.9322); the whole step at ..."
[[nodiscard]] std::string to_text(const StepShare& share);

// Measures the options' step on the first device in pairs with the bare products, both built anew
// for each set of pairs, and reports a Google Benchmark entry and a line for people. Bare products,
// forward and backward are timed by the device's own clock. Throws usage errors.
void run_step_share(const KernelOptions& options, Platform& platform);

}  // namespace tandem::bench
