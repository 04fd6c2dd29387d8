// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "bench/kernels/comparison.h"
#include "common/kernels/host/bare_product.h"
#include "common/kernels/host/naive.h"

namespace tandem::bench {

inline LinearShape shape_of(const benchmark::State& state) {
  return {.batch = state.range(0), .in = state.range(1), .out = state.range(2)};
}

template <class Make>
void compare_product(benchmark::State& state, DeviceBench& bench, MeasuredPeaks& peaks, Make make) {
  const auto op = make(bench, shape_of(state), bench.type());
  const double work = kCalls * static_cast<double>(product_flops(op.shape)) * 1e-9;
  Comparison comparison{.operation = [&] { repeat([&] { bench.enqueue(op); }); },
                        .operation_work = work,
                        .yardstick_work = work,
                        .unit = "gflops",
                        .peaks = &peaks};
  if (bench.is_host()) {
    const auto wide = make(bench, op.shape, DType::kFloat32);
    comparison.yardstick = [&bench, wide] {
      repeat([&] { bench.enqueue_bare([wide] { host::bare_product(wide); }); });
    };
  }
  compare(state, bench, comparison);
}

// An operation that moves `bytes` per element, next to a copy (8 bytes per element).
template <class Op>
void compare_to_copy(benchmark::State& state, DeviceBench& bench, MeasuredPeaks& peaks,
                     const Op& op, int bytes) {
  const auto count = static_cast<std::size_t>(state.range(0));
  const double work = kCalls * static_cast<double>(count) * 1e-9;
  Comparison comparison{.operation = [&] { repeat([&] { bench.enqueue(op); }); },
                        .operation_work = work * bytes,
                        .yardstick_work = work * 8,
                        .unit = "GB/s",
                        .peaks = &peaks};
  if (bench.is_host()) {
    const Span<float> from = bench.random(state.range(0));
    const Span<float> to = bench.random(state.range(0));
    comparison.yardstick = [&bench, from, to, count] {
      repeat([&] {
        bench.enqueue_bare([=] { std::memcpy(to.data(), from.data(), count * sizeof(float)); });
      });
    };
  }
  compare(state, bench, comparison);
}

// An operation over n elements, and the bytes that the operation moves per element. The naive
// version is timed on the least of the counts.
template <class Make>
struct Loop {
  const char* name;
  int bytes;
  Make make;
  std::vector<std::int64_t> counts{1 << 16, 1 << 22, 24'000'000};
};
template <class Make>
Loop(const char*, int, Make) -> Loop<Make>;  // clang 14 does not deduce an aggregate's arguments
template <class Make>
Loop(const char*, int, Make, std::vector<std::int64_t>) -> Loop<Make>;

// Registers benchmarks of operations, naive ones on the host only. On the host the linear
// operations stand next to bare sgemm calls of the same products - in bf16 too, where the share is
// relative to fp32's speed - and the loops over memory next to a copy.
class OperationRegistry {
 public:
  OperationRegistry(Platform& platform, Precision precision, MeasuredPeaks& peaks)
      : platform_(platform), precision_(precision), peaks_(peaks) {}

  // The type in which products and activations are stored.
  [[nodiscard]] DType type() const { return storage_of(precision_); }

  template <class Make>
  void add_product(const std::string& name, Make make) const {
    benchmark::RegisterBenchmark(name.c_str(),
                                 [*this, make](benchmark::State& state) {
                                   DeviceBench bench(platform_, precision_);
                                   compare_product(state, bench, peaks_, make);
                                 })
        ->ArgNames({"batch", "in", "out"})
        ->ArgsProduct({{64, 256, 512}, {1024}, {1024}})
        ->Apply(manual);
    if (!is_host()) return;
    benchmark::RegisterBenchmark(("naive/" + name).c_str(),
                                 [*this, make](benchmark::State& state) {
                                   DeviceBench bench(platform_, precision_);
                                   const auto op = make(bench, shape_of(state), bench.type());
                                   const double work =
                                       static_cast<double>(product_flops(op.shape)) * 1e-9;
                                   time_plain(
                                       state, [&] { naive(op); }, work, "gflops", peaks_);
                                 })
        ->ArgNames({"batch", "in", "out"})
        ->Args({64, 256, 256})
        ->Apply(manual);
  }

  // Counts attention_flops() `passes` times; half of these FLOPs are masked.
  template <class Make>
  void add_attention(const std::string& name, double passes, Make make) const {
    const auto shape = [](const benchmark::State& state) {
      return AttentionShape{state.range(0), state.range(1), state.range(2), state.range(3)};
    };
    const auto work = [passes](const AttentionShape& s) {
      return passes * static_cast<double>(attention_flops(s)) * 1e-9;
    };
    benchmark::RegisterBenchmark(name.c_str(),
                                 [*this, make, shape, work](benchmark::State& state) {
                                   DeviceBench bench(platform_, precision_);
                                   const auto op = make(bench, shape(state));
                                   compare(
                                       state, bench,
                                       {.operation = [&] { repeat([&] { bench.enqueue(op); }); },
                                        .operation_work = kCalls * work(op.shape),
                                        .unit = "gflops",
                                        .peaks = &peaks_});
                                   state.SetLabel(bench.means("attention"));
                                 })
        ->ArgNames({"batch", "positions", "heads", "head_width"})
        ->ArgsProduct({{1}, {128, 512, 1024}, {12}, {64}})
        ->Apply(manual);
    if (!is_host()) return;
    benchmark::RegisterBenchmark(("naive/" + name).c_str(),
                                 [*this, make, shape, work](benchmark::State& state) {
                                   DeviceBench bench(platform_, precision_);
                                   const auto op = make(bench, shape(state));
                                   time_plain(
                                       state, [&] { naive(op); }, work(op.shape), "gflops", peaks_);
                                 })
        ->ArgNames({"batch", "positions", "heads", "head_width"})
        ->Args({1, 64, 12, 64})
        ->Apply(manual);
  }

  template <class Make>
  void add_loop(const Loop<Make>& loop) const {
    benchmark::RegisterBenchmark(loop.name,
                                 [*this, loop](benchmark::State& state) {
                                   DeviceBench bench(platform_, precision_);
                                   compare_to_copy(state, bench, peaks_,
                                                   loop.make(bench, state.range(0)), loop.bytes);
                                 })
        ->ArgName("count")
        ->ArgsProduct({loop.counts})
        ->Apply(manual);
    if (!is_host()) return;
    benchmark::RegisterBenchmark((std::string("naive/") + loop.name).c_str(),
                                 [*this, loop](benchmark::State& state) {
                                   DeviceBench bench(platform_, precision_);
                                   const auto op = loop.make(bench, state.range(0));
                                   const double work =
                                       static_cast<double>(state.range(0)) * loop.bytes * 1e-9;
                                   time_plain(
                                       state, [&] { naive(op); }, work, "GB/s", peaks_);
                                 })
        ->ArgName("count")
        ->Arg(loop.counts.front())
        ->Apply(manual);
  }

 private:
  static void manual(benchmark::internal::Benchmark* b) {
    b->UseManualTime()->Unit(benchmark::kMicrosecond);
  }
  [[nodiscard]] bool is_host() const { return platform_.backend() == Backend::kHost; }

  Platform& platform_;
  const Precision precision_;
  MeasuredPeaks& peaks_;
};

}  // namespace tandem::bench
