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

#include "bench/clean_environment.h"
#include "common/base/clock.h"
#include "common/kernels/host/bare_product.h"
#include "common/kernels/library_version.h"
#include "common/kernels/operations.h"
#include "common/model/zoo.h"
#include "common/parallel/single.h"
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

  Platform& platform() { return *platform_; }
  Device& device() { return device_; }
  Stream& stream() { return *stream_; }
  Operations& operations() { return *operations_; }

  Span<float> random(std::int64_t count, float scale = 1) {
    buffers_.push_back(device_.allocate(bytes_of<float>(count)));
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
  std::function<void()> afterwards{};  // after the operation, not timed
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
    if (comparison.afterwards) comparison.afterwards();
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

// The matrix products of a step of `layers` square layers, one bare call each: what a step would
// take if it were nothing else. Operands are the bench's own, with a weight per layer.
class BareStep {
 public:
  BareStep(Bench& bench, int layers, LinearShape shape)
      : bench_(bench),
        shape_(shape),
        x_(bench.random(shape.batch * shape.in)),
        y_(bench.random(shape.batch * shape.out)),
        bias_(bench.random(shape.out)) {
    for (int i = 0; i < layers; ++i) {
      weights_.push_back(bench.random(shape.in * shape.out));
      gradients_.push_back(bench.random(shape.in * shape.out));
    }
  }

  void enqueue() {
    for (const Span<float> weight : weights_) {
      bare(LinearForward{.shape = shape_, .x = x_, .weight = weight, .bias = bias_, .y = y_});
    }
    for (std::size_t i = weights_.size(); i-- > 0;) {
      if (i > 0)
        bare(LinearBackwardInput{.shape = shape_, .dy = y_, .weight = weights_[i], .dx = x_});
      bare(LinearBackwardWeight{
          .shape = shape_, .x = x_, .dy = y_, .dweight = gradients_[i], .dbias = bias_});
    }
  }

 private:
  template <class Op>
  void bare(const Op& op) {
    bench_.enqueue_bare([op] { host::bare_product(op); });
  }

  Bench& bench_;
  const LinearShape shape_;
  const Span<float> x_;
  const Span<float> y_;
  const Span<float> bias_;
  std::vector<Span<float>> weights_;
  std::vector<Span<float>> gradients_;
};

// The strategy `single` itself, input copy, loss and optimizer included, next to bare products.
void single_step(benchmark::State& state) {
  constexpr int kLayers = 4;
  Bench bench;
  const std::int64_t batch = state.range(0);
  const std::int64_t width = state.range(1);
  const auto model = make_model(fmt::format("mlp:{}x{}", kLayers, width));
  Single single(bench.platform(), bench.device(), *model, Piece{0, batch}, {.global_batch = batch});
  BareStep bare(bench, kLayers, {.batch = batch, .in = width, .out = width});
  const double work = model->flops_per_sample() * static_cast<double>(batch) * 1e-9;
  compare(state, bench,
          {.operation =
               [&] {
                 single.step();
                 single.synchronize();
               },
           .yardstick = [&] { bare.enqueue(); },
           .afterwards = [&] { static_cast<void>(single.collect_phases()); },
           .operation_work = work,
           .yardstick_work = work,
           .unit = "gflops"});
}

// What an operation costs that does nothing: the stream's own work, per operation. A step of
// single on 4 layers has 18, and 6 marks of phases.
void empty_operations(benchmark::State& state) {
  constexpr int kOperations = 1000;
  Bench bench;
  double seconds = 0;
  for (auto _ : state) {
    const double took = bench.timed([&] {
      for (int i = 0; i < kOperations; ++i) bench.enqueue_bare([] {});
    });
    state.SetIterationTime(took);
    seconds += took;
  }
  const double operations = kOperations * static_cast<double>(state.iterations());
  state.counters["ns_per_operation"] = seconds / operations * 1e9;
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

template <class T>
Span<T> narrow(Bench& bench, std::int64_t count) {
  const Span<float> memory = bench.random((count + 1) / 2);
  return {reinterpret_cast<T*>(memory.data()), count, memory.device()};
}

template <class T>
void to_narrow(benchmark::State& state) {
  Bench bench;
  const auto n = state.range(0);
  const Convert op{.in = bench.random(n), .out = narrow<T>(bench, n), .divisor = 3};
  compare_to_copy(state, bench, op, 6);
}

template <class T>
void from_narrow(benchmark::State& state) {
  Bench bench;
  const auto n = state.range(0);
  compare_to_copy(state, bench, Convert{.in = narrow<T>(bench, n), .out = bench.random(n)}, 6);
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
  RegisterBenchmark("single_step", single_step)
      ->ArgNames({"batch", "width"})
      ->ArgsProduct({{64, 256, 512}, {1024}})
      ->Args({8, 64})  // hardly any arithmetic: what the calls themselves cost
      ->Apply(manual);
  RegisterBenchmark("empty_operations", empty_operations)->Apply(manual);
  const std::vector<std::pair<const char*, Function>> loops{{"sgd_update", sgd_update},
                                                            {"add", add},
                                                            {"scale", scale},
                                                            {"relu_backward", relu_backward},
                                                            {"mse_loss", mse_loss},
                                                            {"fill_random", fill_random},
                                                            {"to_bf16", to_narrow<BFloat16>},
                                                            {"to_fp16", to_narrow<Float16>},
                                                            {"from_bf16", from_narrow<BFloat16>},
                                                            {"from_fp16", from_narrow<Float16>}};
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
  tandem::bench::restart_in_clean_environment(argv);
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
