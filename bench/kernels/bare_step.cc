// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/bare_step.h"

#include <cmath>

#include "common/base/error.h"
#include "common/kernels/host/bare_product.h"

namespace tandem::bench {
namespace {

// The FLOPs of forward, of the weights' gradients, and of the inputs' gradients but for the first
// layer.
double step_flops(const std::vector<LinearShape>& layers) {
  double flops = 0;
  for (const LinearShape& shape : layers) flops += 3 * static_cast<double>(product_flops(shape));
  return flops - static_cast<double>(product_flops(layers.front()));
}

}  // namespace

std::vector<LinearShape> linear_layers(const Model& model, std::int64_t batch) {
  std::vector<LinearShape> layers;
  for (const ParameterLayout::Segment& segment : model.layout().segments()) {
    const auto& dims = segment.shape.dims();
    if (dims.size() == 2) layers.push_back({.batch = batch, .in = dims[1], .out = dims[0]});
  }
  const double flops = model.flops_per_sample() * static_cast<double>(batch);
  if (layers.empty() || std::abs(step_flops(layers) - flops) > 1e-9 * flops) {
    fail(ErrorKind::kUsage,
         "{} is not made of linear layers one after the other: use an mlp, such as mlp-base",
         model.name());
  }
  return layers;
}

BareStep::BareStep(DeviceBench& bench, const Model& model, std::int64_t batch) : bench_(bench) {
  const DType type = bench.is_host() ? DType::kFloat32 : bench.type();
  for (const LinearShape& shape : linear_layers(model, batch)) {
    const std::int64_t inputs = shape.batch * shape.in;
    const std::int64_t weights = shape.in * shape.out;
    layers_.push_back({.shape = shape,
                       .x = bench.random(inputs, type),
                       .dx = layers_.empty() ? AnySpan() : bench.random(inputs, type),
                       .weight = bench.random(weights, type),
                       .dweight = bench.random(weights)});
  }
  const std::int64_t outputs = batch * layers_.back().shape.out;
  output_ = bench.random(outputs, type);
  output_gradient_ = bench.random(outputs, type);
}

void BareStep::enqueue() {
  const auto above = [this](std::size_t i, AnySpan Layer::*values, AnySpan last) {
    return i + 1 < layers_.size() ? layers_[i + 1].*values : last;
  };
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    bare(LinearForward{.shape = layer.shape,
                       .x = layer.x,
                       .weight = layer.weight,
                       .y = above(i, &Layer::x, output_)});
  }
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const Layer& layer = layers_[i];
    const AnySpan dy = above(i, &Layer::dx, output_gradient_);
    bare(LinearBackwardWeight{
        .shape = layer.shape, .x = layer.x, .dy = dy, .dweight = layer.dweight});
    if (i == 0) return;
    bare(LinearBackwardInput{
        .shape = layer.shape, .dy = dy, .weight = layer.weight, .dx = layer.dx});
  }
}

double BareStep::flops() const {
  std::vector<LinearShape> shapes;
  for (const Layer& layer : layers_) shapes.push_back(layer.shape);
  return step_flops(shapes);
}

template <class Op>
void BareStep::bare(const Op& op) {
  if (!bench_.is_host()) return bench_.enqueue(op);
  bench_.enqueue_bare([op] { host::bare_product(op); });
}

}  // namespace tandem::bench
