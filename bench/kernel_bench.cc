// SPDX-License-Identifier: Apache-2.0
//
// How fast the operations of the host back end are, each next to its yardstick: the linear
// operations and a whole training step next to bare sgemm calls of the same products, the loops
// over memory next to a copy. Both sides run in turn on one stream's worker, bound to one core, so
// that the machine's moods meet both alike. Counters: `share` is yardstick time over operation
// time.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/kernels/host/bare_product.h"
#include "common/kernels/library_version.h"
#include "common/kernels/operations.h"
#include "common/optim/sgd.h"
#include "common/runtime/host/host_platform.h"
#include "common/runtime/host/host_stream.h"

namespace tandem::bench {
namespace {

// One device, one stream, and memory with values that neither overflow nor become denormal.
class Bench {
 public:
  Bench()
      : platform_(host::make_host_platform(PlatformOptions{})),
        device_(platform_->device(0)),
        stream_(device_.make_stream(StreamPriority::kNormal)),
        operations_(make_operations(device_)) {}

  Device& device() { return device_; }
  Stream& stream() { return *stream_; }
  Operations& operations() { return *operations_; }

  Span<float> random(std::int64_t count, float scale = 1) {
    buffers_.push_back(device_.allocate(Bytes{count * static_cast<std::int64_t>(sizeof(float))}));
    const Span<float> values = buffers_.back()->as<float>(count);
    enqueue(FillRandom{.values = values, .seed = buffers_.size(), .scale = scale});
    stream_->synchronize();
    return values;
  }

  template <class Op>
  void enqueue(const Op& op) {
    operations_->enqueue(*stream_, op);
  }

  // A yardstick: plain code on the worker. Its operands are not declared, nothing else runs.
  void enqueue_bare(std::function<void()> body) {
    host::host_stream(*stream_).enqueue({"bare", {}, std::move(body)});
  }

  // Seconds from the first enqueue to the end of the last work.
  double timed(const std::function<void()>& enqueue_all) {
    const TimePoint start = Clock::now();
    enqueue_all();
    stream_->synchronize();
    return Seconds(Clock::now() - start).count();
  }

 private:
  std::unique_ptr<Platform> platform_;
  Device& device_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::unique_ptr<Stream> stream_;  // after what its work uses
  std::unique_ptr<Operations> operations_;
};

// The operation and its yardstick in turn. Work is in units of 10^9: flops, bytes or elements.
struct Comparison {
  std::function<void()> operation;
  std::function<void()> yardstick;
  double operation_work = 0;
  double yardstick_work = 0;
  const char* unit = "";  // the counter's name
};

void compare(benchmark::State& state, Bench& bench, const Comparison& comparison) {
  bench.timed(comparison.operation);  // primitives, page faults
  bench.timed(comparison.yardstick);
  double operation_time = 0;
  double yardstick_time = 0;
  double rounds = 0;
  for (auto _ : state) {
    const double took = bench.timed(comparison.operation);
    state.SetIterationTime(took);
    operation_time += took;
    yardstick_time += bench.timed(comparison.yardstick);
    ++rounds;
  }
  if (operation_time <= 0 || yardstick_time <= 0) return;  // counters must be finite numbers
  const double rate = rounds * comparison.operation_work / operation_time;
  const double yardstick_rate = rounds * comparison.yardstick_work / yardstick_time;
  state.counters[comparison.unit] = rate;
  state.counters[std::string("bare_") + comparison.unit] = yardstick_rate;
  state.counters["share"] = rate / yardstick_rate;
}

// Several calls at a time, as in a step, so that a wake-up of the worker is not counted to each.
constexpr int kCalls = 8;

void repeat(const std::function<void()>& call) {
  for (int i = 0; i < kCalls; ++i) call();
}

template <class Op>
void compare_product(benchmark::State& state, Bench& bench, const Op& op) {
  const double work = kCalls * static_cast<double>(product_flops(op.shape)) * 1e-9;
  const auto bare = [op] { host::bare_product(op); };
  compare(state, bench,
          {.operation = [&] { repeat([&] { bench.enqueue(op); }); },
           .yardstick = [&] { repeat([&] { bench.enqueue_bare(bare); }); },
           .operation_work = work,
           .yardstick_work = work,
           .unit = "gflops"});
}

LinearShape shape_of(const benchmark::State& state) {
  return {.batch = state.range(0), .in = state.range(1), .out = state.range(2)};
}

void linear_forward(benchmark::State& state) {
  Bench bench;
  const LinearShape s = shape_of(state);
  compare_product(state, bench,
                  LinearForward{.shape = s,
                                .x = bench.random(s.batch * s.in),
                                .weight = bench.random(s.out * s.in),
                                .bias = bench.random(s.out),
                                .y = bench.random(s.batch * s.out),
                                .activation = Activation::kRelu});
}

void linear_backward_input(benchmark::State& state) {
  Bench bench;
  const LinearShape s = shape_of(state);
  compare_product(state, bench,
                  LinearBackwardInput{.shape = s,
                                      .dy = bench.random(s.batch * s.out),
                                      .weight = bench.random(s.out * s.in),
                                      .dx = bench.random(s.batch * s.in)});
}

void linear_backward_weight(benchmark::State& state) {
  Bench bench;
  const LinearShape s = shape_of(state);
  compare_product(state, bench,
                  LinearBackwardWeight{.shape = s,
                                       .x = bench.random(s.batch * s.in),
                                       .dy = bench.random(s.batch * s.out),
                                       .dweight = bench.random(s.out * s.in),
                                       .dbias = bench.random(s.out)});
}

// `layers` square layers with ReLU between them, squared error, momentum SGD, as one device trains
// them; weights, and gradients, in one piece each.
class Perceptron {
 public:
  static constexpr int kLayers = 4;

  Perceptron(Bench& bench, std::int64_t batch, std::int64_t width)
      : bench_(bench),
        shape_{.batch = batch, .in = width, .out = width},
        weights_(bench.random(kLayers * layer_size(), 1.0F / static_cast<float>(width))),
        gradients_(bench.random(kLayers * layer_size())),
        target_(bench.random(batch * width)),
        loss_(bench.random(1)),
        sgd_(bench.device(), kLayers * layer_size()) {
    for (int i = 0; i <= kLayers; ++i) {
      activations_.push_back(bench.random(batch * width));
      errors_.push_back(bench.random(batch * width));
    }
  }

  void enqueue_step() {
    for (std::size_t i = 0; i < kLayers; ++i) bench_.enqueue(forward(i));
    bench_.enqueue(MseLoss{activations_[kLayers], target_, errors_[kLayers], loss_});
    for (std::size_t i = kLayers; i-- > 0;) {
      bench_.enqueue(backward_weight(i));
      if (i == 0) break;  // nobody asks for the gradient of the input
      bench_.enqueue(backward_input(i));
      bench_.enqueue(ReluBackward{activations_[i], errors_[i]});
    }
    sgd_.step(bench_.operations(), bench_.stream(), weights_, gradients_);
  }

  void enqueue_bare_products() {
    const auto bare = [this](const auto& op) {
      bench_.enqueue_bare([op] { host::bare_product(op); });
    };
    for (std::size_t i = 0; i < kLayers; ++i) bare(forward(i));
    for (std::size_t i = kLayers; i-- > 0;) {
      bare(backward_weight(i));
      if (i > 0) bare(backward_input(i));
    }
  }

  [[nodiscard]] double gflop() const {
    return static_cast<double>((3 * kLayers - 1) * product_flops(shape_)) * 1e-9;
  }

 private:
  [[nodiscard]] std::int64_t layer_size() const { return (shape_.in + 1) * shape_.out; }

  // Layer i's weight and bias in an arena of all.
  template <class T>
  [[nodiscard]] Span<T> weight_in(Span<T> arena, std::size_t i) const {
    return arena.subspan(static_cast<std::int64_t>(i) * layer_size(), shape_.in * shape_.out);
  }
  template <class T>
  [[nodiscard]] Span<T> bias_in(Span<T> arena, std::size_t i) const {
    return arena.subspan(static_cast<std::int64_t>(i + 1) * layer_size() - shape_.out, shape_.out);
  }

  [[nodiscard]] LinearForward forward(std::size_t i) const {
    return {shape_,
            activations_[i],
            weight_in(weights_, i),
            bias_in(weights_, i),
            activations_[i + 1],
            i + 1 < kLayers ? Activation::kRelu : Activation::kNone};
  }
  [[nodiscard]] LinearBackwardInput backward_input(std::size_t i) const {
    return {shape_, errors_[i + 1], weight_in(weights_, i), errors_[i]};
  }
  [[nodiscard]] LinearBackwardWeight backward_weight(std::size_t i) const {
    return {shape_, activations_[i], errors_[i + 1], weight_in(gradients_, i),
            bias_in(gradients_, i)};
  }

  Bench& bench_;
  const LinearShape shape_;
  const Span<float> weights_;
  const Span<float> gradients_;
  const Span<float> target_;
  const Span<float> loss_;
  SgdMomentum sgd_;
  std::vector<Span<float>> activations_;  // [0] is the input
  std::vector<Span<float>> errors_;       // gradients with respect to them
};

void mlp_step(benchmark::State& state) {
  Bench bench;
  Perceptron perceptron(bench, state.range(0), state.range(1));
  compare(state, bench,
          {.operation = [&] { perceptron.enqueue_step(); },
           .yardstick = [&] { perceptron.enqueue_bare_products(); },
           .operation_work = perceptron.gflop(),
           .yardstick_work = perceptron.gflop(),
           .unit = "gflops"});
}

// An operation that moves `bytes` per element, next to a copy (8 bytes per element).
template <class Op>
void compare_to_copy(benchmark::State& state, Bench& bench, const Op& op, int bytes) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const Span<float> from = bench.random(state.range(0));
  const Span<float> to = bench.random(state.range(0));
  const auto copy = [=] { std::memcpy(to.data(), from.data(), count * sizeof(float)); };
  const double work = kCalls * static_cast<double>(count) * 1e-9;
  compare(state, bench,
          {.operation = [&] { repeat([&] { bench.enqueue(op); }); },
           .yardstick = [&] { repeat([&] { bench.enqueue_bare(copy); }); },
           .operation_work = work * bytes,
           .yardstick_work = work * 8,
           .unit = "GB/s"});
}

void sgd_update(benchmark::State& state) {
  Bench bench;
  const auto n = state.range(0);
  const SgdUpdate op{bench.random(n), bench.random(n), bench.random(n), 1e-6F, 0.9F};
  compare_to_copy(state, bench, op, 20);
}

void add(benchmark::State& state) {
  Bench bench;
  const auto n = state.range(0);
  compare_to_copy(state, bench, Add{bench.random(n), bench.random(n), bench.random(n)}, 12);
}

void scale(benchmark::State& state) {
  Bench bench;
  const auto n = state.range(0);
  compare_to_copy(state, bench, Scale{bench.random(n), bench.random(n), 0.5F}, 8);
}

void relu_backward(benchmark::State& state) {
  Bench bench;
  const auto n = state.range(0);
  compare_to_copy(state, bench, ReluBackward{bench.random(n), bench.random(n)}, 12);
}

void mse_loss(benchmark::State& state) {
  Bench bench;
  const auto n = state.range(0);
  const MseLoss op{bench.random(n), bench.random(n), bench.random(n), bench.random(1)};
  compare_to_copy(state, bench, op, 12);
}

void fill_random(benchmark::State& state) {
  Bench bench;
  compare_to_copy(state, bench, FillRandom{.values = bench.random(state.range(0)), .seed = 7}, 4);
}

void register_all() {
  using benchmark::RegisterBenchmark;
  using Function = void (*)(benchmark::State&);
  const auto manual = [](benchmark::internal::Benchmark* b) {
    b->UseManualTime()->Unit(benchmark::kMicrosecond);
  };
  const std::vector<std::pair<const char*, Function>> products{
      {"linear_forward", linear_forward},
      {"linear_backward_input", linear_backward_input},
      {"linear_backward_weight", linear_backward_weight}};
  for (const auto& [name, function] : products) {
    RegisterBenchmark(name, function)
        ->ArgNames({"batch", "in", "out"})
        ->ArgsProduct({{64, 256, 512}, {1024}, {1024}})
        ->Apply(manual);
  }
  RegisterBenchmark("mlp_step", mlp_step)
      ->ArgNames({"batch", "width"})
      ->ArgsProduct({{64, 256, 512}, {1024}})
      ->Args({8, 64})  // hardly any arithmetic: what the calls themselves cost
      ->Apply(manual);
  const std::vector<std::pair<const char*, Function>> loops{
      {"sgd_update", sgd_update},       {"add", add},           {"scale", scale},
      {"relu_backward", relu_backward}, {"mse_loss", mse_loss}, {"fill_random", fill_random}};
  for (const auto& [name, function] : loops) {
    RegisterBenchmark(name, function)
        ->ArgName("count")
        ->Arg(1 << 16)
        ->Arg(1 << 22)
        ->Arg(24'000'000)
        ->Apply(manual);
  }
}

}  // namespace
}  // namespace tandem::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  try {
    benchmark::AddCustomContext("kernel_library", tandem::kernel_library_version());
    tandem::bench::register_all();
    if (benchmark::RunSpecifiedBenchmarks() == 0) return 2;  // a filter that matches nothing
  } catch (const tandem::Error& error) {
    std::fprintf(stderr, "kernel_bench: %s\n", error.what());
    return error.exit_code();
  }
  benchmark::Shutdown();
  return 0;
}
