// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/image_benchmarks.h"

#include <cstring>
#include <string>
#include <vector>

#include "bench/kernels/comparison.h"
#include "common/kernels/host/bare_product.h"
#include "common/kernels/host/naive.h"

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

// Rows of size, channels in and out, kernel, stride.
std::vector<std::vector<std::int64_t>> convolution_rows() {
  return {{224, 3, 64, 7, 2},   {56, 64, 64, 1, 1},    {56, 64, 64, 3, 1},   {56, 64, 256, 1, 1},
          {56, 256, 64, 1, 1},  {56, 128, 128, 3, 2},  {28, 128, 128, 3, 1}, {56, 256, 512, 1, 2},
          {14, 256, 256, 3, 1}, {14, 1024, 256, 1, 1}, {7, 512, 512, 3, 1},  {7, 512, 2048, 1, 1}};
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

class Registry {
 public:
  Registry(Platform& platform, Precision precision, MeasuredPeaks& peaks)
      : platform_(platform), precision_(precision), peaks_(peaks) {}

  [[nodiscard]] std::int64_t element_bytes() const { return size_of(storage_of(precision_)); }

  template <class Make>
  void add_convolution(const std::string& name, Make make) const {
    auto* const fast = benchmark::RegisterBenchmark(
        name.c_str(), [*this, make](State& state) { compare_convolution(state, make); });
    for (const auto& row : convolution_rows()) fast->Args(row);
    named(fast);
    if (!is_host()) return;
    named(benchmark::RegisterBenchmark(("naive/" + name).c_str(), [*this, make](State& state) {
            DeviceBench bench(platform_, precision_);
            const auto op = make(bench, convolution_of(state));
            time_plain(
                state, [&] { naive(op); }, work_of(op.shape), "gflops", peaks_);
          })->Args({14, 64, 64, 3, 1}));
  }

  // Adds an operation that moves `bytes` in all, on each of the shapes; the naive operation on the
  // last shape.
  template <class Shape, class Make, class CountBytes>
  void add_loop(const std::string& name, const std::vector<Shape>& shapes, Make make,
                CountBytes bytes) const {
    for (const Shape& shape : shapes) {
      const std::string row = name + "/" + to_text(shape);
      const double work = static_cast<double>(bytes(shape)) * 1e-9;
      manual(benchmark::RegisterBenchmark(row.c_str(), [*this, make, shape, work](State& state) {
        compare_loop(state, make, shape, work);
      }));
    }
    if (!is_host()) return;
    const Shape shape = shapes.back();
    const double work = static_cast<double>(bytes(shape)) * 1e-9;
    manual(benchmark::RegisterBenchmark(("naive/" + name + "/" + to_text(shape)).c_str(),
                                        [*this, make, shape, work](State& state) {
                                          DeviceBench bench(platform_, precision_);
                                          const auto op = make(bench, shape);
                                          time_plain(
                                              state, [&] { naive(op); }, work, "GB/s", peaks_);
                                        }));
  }

 private:
  template <class Make>
  void compare_convolution(State& state, Make make) const {
    DeviceBench bench(platform_, precision_);
    const ConvolutionShape s = convolution_of(state);
    const auto op = make(bench, s);
    const double work = kCalls * work_of(s);
    Comparison comparison{.operation = [&] { repeat([&] { bench.enqueue(op); }); },
                          .operation_work = work,
                          .yardstick_work = work,
                          .unit = "gflops",
                          .peaks = &peaks_};
    if (is_host()) {
      const LinearShape product{s.batch * s.out_height() * s.out_width(),
                                s.kernel * s.kernel * s.in, s.out};
      const LinearForward bare{.shape = product,
                               .x = bench.random(product.batch * product.in),
                               .weight = bench.random(product.out * product.in),
                               .y = bench.random(product.batch * product.out)};
      comparison.yardstick = [&bench, bare] {
        repeat([&] { bench.enqueue_bare([bare] { host::bare_product(bare); }); });
      };
    }
    compare(state, bench, comparison);
  }

  // The yardstick copies half of what the operation moves from one place to another.
  template <class Make, class Shape>
  void compare_loop(State& state, Make make, const Shape& shape, double work) const {
    DeviceBench bench(platform_, precision_);
    const auto op = make(bench, shape);
    Comparison comparison{.operation = [&] { repeat([&] { bench.enqueue(op); }); },
                          .operation_work = kCalls * work,
                          .yardstick_work = kCalls * work,
                          .unit = "GB/s",
                          .peaks = &peaks_};
    if (is_host()) {
      const auto half = static_cast<std::int64_t>(work * 1e9 / 8);
      const Span<float> from = bench.random(half);
      const Span<float> to = bench.random(half);
      comparison.yardstick = [&bench, from, to] {
        repeat([&] {
          bench.enqueue_bare([=] {
            std::memcpy(to.data(), from.data(), static_cast<std::size_t>(from.size_bytes().value));
          });
        });
      };
    }
    compare(state, bench, comparison);
  }

  static double work_of(const ConvolutionShape& s) {
    return static_cast<double>(convolution_flops(s)) * 1e-9;
  }
  static std::string to_text(const BatchNormShape& s) {
    return fmt::format("rows:{}/channels:{}", s.rows, s.channels);
  }
  static std::string to_text(const MaxPoolShape& s) {
    return fmt::format("size:{}/channels:{}", s.height, s.channels);
  }
  static std::string to_text(const AveragePoolShape& s) {
    return fmt::format("positions:{}/channels:{}", s.positions, s.channels);
  }
  static void named(benchmark::internal::Benchmark* b) {
    manual(b->ArgNames({"size", "in", "out", "kernel", "stride"}));
  }
  static void manual(benchmark::internal::Benchmark* b) {
    b->UseManualTime()->Unit(benchmark::kMicrosecond);
  }
  [[nodiscard]] bool is_host() const { return platform_.backend() == Backend::kHost; }

  Platform& platform_;
  const Precision precision_;
  MeasuredPeaks& peaks_;
};

// Each operand counts once, though statistics take a second pass where a batch exceeds the cache.
void register_norms(const Registry& registry) {
  const std::vector<BatchNormShape> shapes{{kBatch * 112 * 112, 64}, {kBatch * 56 * 56, 256},
                                           {kBatch * 28 * 28, 512},  {kBatch * 14 * 14, 1024},
                                           {kBatch * 7 * 7, 2048},   {kBatch * 7 * 7, 512}};
  const std::int64_t size = registry.element_bytes();
  registry.add_loop("batch_norm_forward", shapes, batch_norm_forward,
                    [size](const BatchNormShape& s) { return 3 * size * s.rows * s.channels; });
  registry.add_loop("batch_norm_backward", shapes, batch_norm_backward,
                    [size](const BatchNormShape& s) { return 6 * size * s.rows * s.channels; });
}

void register_pools(const Registry& registry) {
  const std::vector<MaxPoolShape> stem{{kBatch, 112, 112, 64}};
  const std::vector<AveragePoolShape> head{{kBatch, 49, 2048}};
  const std::int64_t size = registry.element_bytes();
  registry.add_loop("max_pool_forward", stem, max_pool_forward, [size](const MaxPoolShape& s) {
    return size * (s.input_count() + s.output_count());
  });
  registry.add_loop("max_pool_backward", stem, max_pool_backward, [size](const MaxPoolShape& s) {
    return size * 2 * (s.input_count() + s.output_count());
  });
  const auto pooled = [size](const AveragePoolShape& s) {
    return size * s.batch * s.channels * (s.positions + 1);
  };
  registry.add_loop("average_pool_forward", head, average_pool_forward, pooled);
  registry.add_loop("average_pool_backward", head, average_pool_backward, pooled);
}

}  // namespace

void register_image_operations(Platform& platform, Precision precision, MeasuredPeaks& peaks) {
  if (!lack_of_images(platform.backend()).empty()) return;
  const Registry registry(platform, precision, peaks);
  registry.add_convolution("convolution_forward", convolution_forward);
  registry.add_convolution("convolution_backward_input", convolution_backward_input);
  registry.add_convolution("convolution_backward_weight", convolution_backward_weight);
  register_norms(registry);
  register_pools(registry);
}

}  // namespace tandem::bench
