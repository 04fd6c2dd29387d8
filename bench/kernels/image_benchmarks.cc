// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "bench/kernels/operation_registry.h"

namespace tandem::bench {
namespace {

using benchmark::State;

constexpr std::int64_t kBatch = 4;

ConvolutionForward convolution_forward(DeviceBench& b, const ConvolutionShape& s) {
  return {.shape = s,
          .x = b.random(s.input_count(), b.type()),
          .weight = b.random(s.weight_count(), b.type()),
          .y = b.random(s.output_count(), b.type())};
}

ConvolutionBackwardInput convolution_backward_input(DeviceBench& b, const ConvolutionShape& s) {
  return {.shape = s,
          .dy = b.random(s.output_count(), b.type()),
          .weight = b.random(s.weight_count(), b.type()),
          .dx = b.random(s.input_count(), b.type())};
}

ConvolutionBackwardWeight convolution_backward_weight(DeviceBench& b, const ConvolutionShape& s) {
  return {.shape = s,
          .x = b.random(s.input_count(), b.type()),
          .dy = b.random(s.output_count(), b.type()),
          .dweight = b.random(s.weight_count())};
}

// A batch normalisation with residual and ReLU, as at the end of a block.
BatchNormForward batch_norm_forward(DeviceBench& b, const BatchNormShape& s) {
  const std::int64_t count = s.rows * s.channels;
  return {.shape = s,
          .x = b.random(count, b.type()),
          .residual = b.random(count, b.type()),
          .gain = b.random(s.channels),
          .bias = b.random(s.channels),
          .y = b.random(count, b.type()),
          .running_mean = b.random(s.channels),
          .running_variance = b.random(s.channels),
          .mean = b.random(s.channels),
          .rstd = b.random(s.channels),
          .activation = Activation::kRelu};
}

BatchNormBackward batch_norm_backward(DeviceBench& b, const BatchNormShape& s) {
  const std::int64_t count = s.rows * s.channels;
  return {.shape = s,
          .x = b.random(count, b.type()),
          .y = b.random(count, b.type()),
          .dy = b.random(count, b.type()),
          .dabove = b.random(count, b.type()),
          .gain = b.random(s.channels),
          .mean = b.random(s.channels),
          .rstd = b.random(s.channels),
          .dx = b.random(count, b.type()),
          .dresidual = b.random(count, b.type()),
          .dgain = b.random(s.channels),
          .dbias = b.random(s.channels)};
}

MaxPoolForward max_pool_forward(DeviceBench& b, const MaxPoolShape& s) {
  return {s, b.random(s.input_count(), b.type()), b.random(s.output_count(), b.type())};
}

MaxPoolBackward max_pool_backward(DeviceBench& b, const MaxPoolShape& s) {
  const MaxPoolForward ahead = max_pool_forward(b, s);
  b.enqueue(ahead);
  return {.shape = s,
          .x = ahead.x,
          .y = ahead.y,
          .dy = b.random(s.output_count(), b.type()),
          .dx = b.random(s.input_count(), b.type())};
}

AveragePoolForward average_pool_forward(DeviceBench& b, const AveragePoolShape& s) {
  return {s, b.random(s.batch * s.positions * s.channels, b.type()),
          b.random(s.batch * s.channels, b.type())};
}

AveragePoolBackward average_pool_backward(DeviceBench& b, const AveragePoolShape& s) {
  return {s, b.random(s.batch * s.channels, b.type()),
          b.random(s.batch * s.positions * s.channels, b.type())};
}

ConvolutionShape convolution_of(const State& state) {
  return {.batch = kBatch,
          .height = state.range(0),
          .width = state.range(0),
          .in = state.range(1),
          .out = state.range(2),
          .kernel = state.range(3),
          .stride = state.range(4),
          .padding = state.range(3) / 2};
}

template <class Make>
void add_convolution(const OperationRegistry& registry, const std::string& name, Make make) {
  registry.add(name,
               {.names = {"size", "in", "out", "kernel", "stride"},
                .arguments = {{224, 3, 64, 7, 2},
                              {56, 64, 64, 1, 1},
                              {56, 64, 64, 3, 1},
                              {56, 64, 256, 1, 1},
                              {56, 256, 64, 1, 1},
                              {56, 128, 128, 3, 2},
                              {28, 128, 128, 3, 1},
                              {56, 256, 512, 1, 2},
                              {14, 256, 256, 3, 1},
                              {14, 1024, 256, 1, 1},
                              {7, 512, 512, 3, 1},
                              {7, 512, 2048, 1, 1}},
                .unit = "gflops"},
               [make](DeviceBench& bench, const State& state) {
                 const ConvolutionShape shape = convolution_of(state);
                 const double work = static_cast<double>(convolution_flops(shape)) * 1e-9;
                 return std::pair{make(bench, shape), work};
               });
}

// Adds an operation on the shapes that shape_of(state) makes of the rows; count(shape) elements of
// the layers' type are moved in all.
template <class MakeShape, class Make, class Count>
void add_loop(const OperationRegistry& registry, const std::string& name,
              const std::vector<std::string>& names,
              const std::vector<std::vector<std::int64_t>>& rows, MakeShape shape_of, Make make,
              Count count) {
  const std::int64_t size = registry.element_bytes();
  registry.add(name, {.names = names, .arguments = rows, .unit = "GB/s"},
               [=](DeviceBench& bench, const State& state) {
                 const auto shape = shape_of(state);
                 const std::int64_t bytes = size * count(shape);
                 return std::pair{make(bench, shape), static_cast<double>(bytes) * 1e-9};
               });
}

// Each operand counts once, though statistics take a second pass where a batch exceeds the cache.
void register_norms(const OperationRegistry& registry) {
  const std::vector<std::string> names{"rows", "channels"};
  const std::vector<std::vector<std::int64_t>> rows{
      {kBatch * 112 * 112, 64}, {kBatch * 56 * 56, 256}, {kBatch * 28 * 28, 512},
      {kBatch * 14 * 14, 1024}, {kBatch * 7 * 7, 2048},  {kBatch * 7 * 7, 512}};
  const auto shape_of = [](const State& state) {
    return BatchNormShape{state.range(0), state.range(1), state.range(0) / kBatch};
  };
  add_loop(registry, "batch_norm_forward", names, rows, shape_of, batch_norm_forward,
           [](const BatchNormShape& s) { return 3 * s.rows * s.channels; });
  add_loop(registry, "batch_norm_backward", names, rows, shape_of, batch_norm_backward,
           [](const BatchNormShape& s) { return 6 * s.rows * s.channels; });
}

void register_max_pools(const OperationRegistry& registry) {
  const auto shape_of = [](const State& state) {
    return MaxPoolShape{kBatch, state.range(0), state.range(0), state.range(1)};
  };
  add_loop(registry, "max_pool_forward", {"size", "channels"}, {{112, 64}}, shape_of,
           max_pool_forward,
           [](const MaxPoolShape& s) { return s.input_count() + s.output_count(); });
  add_loop(registry, "max_pool_backward", {"size", "channels"}, {{112, 64}}, shape_of,
           max_pool_backward,
           [](const MaxPoolShape& s) { return 2 * (s.input_count() + s.output_count()); });
}

void register_average_pools(const OperationRegistry& registry) {
  const auto shape_of = [](const State& state) {
    return AveragePoolShape{kBatch, state.range(0), state.range(1)};
  };
  const auto count = [](const AveragePoolShape& s) {
    return s.batch * s.channels * (s.positions + 1);
  };
  add_loop(registry, "average_pool_forward", {"positions", "channels"}, {{49, 2048}}, shape_of,
           average_pool_forward, count);
  add_loop(registry, "average_pool_backward", {"positions", "channels"}, {{49, 2048}}, shape_of,
           average_pool_backward, count);
}

}  // namespace

void register_image_operations(const OperationRegistry& registry) {
  if (!lack_of_images(registry.backend()).empty()) return;
  add_convolution(registry, "convolution_forward", convolution_forward);
  add_convolution(registry, "convolution_backward_input", convolution_backward_input);
  add_convolution(registry, "convolution_backward_weight", convolution_backward_weight);
  register_norms(registry);
  register_max_pools(registry);
  register_average_pools(registry);
}

}  // namespace tandem::bench
