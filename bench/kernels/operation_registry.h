// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/kernels/operations.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// One device, one stream, and memory with values that neither overflow nor become denormal.
class DeviceBench {
 public:
  DeviceBench(Platform& platform, Precision precision);

  // The type in which products and activations are stored.
  [[nodiscard]] DType type() const { return type_; }

  // Random numbers, uniform in [-1, 1).
  [[nodiscard]] Span<float> random(std::int64_t count);
  [[nodiscard]] AnySpan random(std::int64_t count, DType type);

  template <class Op>
  void enqueue(const Op& op) {
    operations_->enqueue(*stream_, op);
  }

  // Times `enqueue`, which enqueues `work` units of 10^9 (FLOPs or bytes), in the iterations of
  // `state`, and sets the counter `unit`, the rate; the label says how the operations were
  // computed, where there are several ways.
  void measure(benchmark::State& state, const std::function<void()>& enqueue, double work,
               const char* unit);

 private:
  [[nodiscard]] Buffer& allocate(Bytes size);
  // Seconds from the first enqueue to the end of the last work.
  [[nodiscard]] double timed(const std::function<void()>& enqueue);

  Device& device_;
  const DType type_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::unique_ptr<Operations> operations_;
  std::unique_ptr<Stream> stream_;  // last: the stream ends before the memory that its work uses
};

// The rows of an operation's benchmark, by their arguments.
struct BenchmarkRows {
  std::vector<std::string> names;  // names of the arguments
  std::vector<std::vector<std::int64_t>> arguments;
  const char* unit;  // the rate's counter
};

// Registers benchmarks of operations. The platform outlives the run.
class OperationRegistry {
 public:
  OperationRegistry(Platform& platform, Precision precision)
      : platform_(platform), precision_(precision) {}

  [[nodiscard]] Backend backend() const { return platform_.backend(); }

  // The size of an element of products and activations.
  [[nodiscard]] std::int64_t element_bytes() const { return size_of(storage_of(precision_)); }

  // plan(bench, state) gives the operation of a row, and its work in units of 10^9.
  template <class Plan>
  void add(const std::string& name, const BenchmarkRows& rows, Plan plan) const {
    const auto measure = [*this, plan, unit = rows.unit](benchmark::State& state) {
      // Calls that are timed together, as in a step, so that a wake-up of the worker is not counted
      // to each call.
      constexpr int kCalls = 8;
      DeviceBench bench(platform_, precision_);
      const auto planned = plan(bench, state);
      const auto calls = [&] {
        for (int i = 0; i < kCalls; ++i) bench.enqueue(planned.first);
      };
      bench.measure(state, calls, kCalls * planned.second, unit);
    };
    auto* const registered = benchmark::RegisterBenchmark(name.c_str(), measure)
                                 ->ArgNames(rows.names)
                                 ->UseManualTime()
                                 ->Unit(benchmark::kMicrosecond);
    for (const auto& row : rows.arguments) registered->Args(row);
  }

  // Adds an operation on make(bench, n), over n elements, that moves `bytes` per element.
  template <class Make>
  void add_loop(const std::string& name, std::int64_t bytes, Make make,
                const std::vector<std::int64_t>& counts = {1 << 16, 1 << 22, 24'000'000}) const {
    BenchmarkRows rows{{"count"}, {}, "GB/s"};
    for (const std::int64_t count : counts) rows.arguments.push_back({count});
    add(name, rows, [make, bytes](DeviceBench& bench, const benchmark::State& state) {
      const std::int64_t count = state.range(0);
      return std::pair{make(bench, count), static_cast<double>(count * bytes) * 1e-9};
    });
  }

 private:
  Platform& platform_;
  const Precision precision_;
};

// Registers every operation with Google Benchmark.
void register_operations(const OperationRegistry& registry);

// Registers the operations on images, with shapes of ResNet-50 at a batch of 4; registers none
// where the registry's back end lacks convolutions.
void register_image_operations(const OperationRegistry& registry);

}  // namespace tandem::bench
