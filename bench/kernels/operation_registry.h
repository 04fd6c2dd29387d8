// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "bench/kernels/comparison.h"
#include "common/kernels/host/bare_product.h"

namespace tandem::bench {

// The rows of an operation's benchmark, by their arguments.
struct BenchmarkRows {
  std::vector<std::string> names;  // names of the arguments
  std::vector<std::vector<std::int64_t>> arguments;
  const char* unit;  // the rate's counter
};

// An operation on operands of a bench, its work in units of 10^9, and the maker of its bare
// operation, which the host asks for; empty: the operation has none.
template <class Op>
struct PlannedOperation {
  Op op;
  double work;
  std::function<BareOperation()> bare;
};
template <class Op>  // clang 14 does not deduce an aggregate's arguments
PlannedOperation(Op, double, std::function<BareOperation()>)->PlannedOperation<Op>;

// Registers benchmarks of operations. On the host the linear operations and convolutions stand next
// to bare sgemm calls of the same products - in bf16 too, where the share is relative to fp32's
// speed - and the loops over memory next to a copy. Platform and peaks outlive the run.
class OperationRegistry {
 public:
  OperationRegistry(Platform& platform, Precision precision, MeasuredPeaks& peaks)
      : platform_(platform), precision_(precision), peaks_(peaks) {}

  [[nodiscard]] Backend backend() const { return platform_.backend(); }

  // The size of an element of products and activations.
  [[nodiscard]] std::int64_t element_bytes() const { return size_of(storage_of(precision_)); }

  // plan(bench, state) gives the PlannedOperation of a row.
  template <class Plan>
  void add(const std::string& name, const BenchmarkRows& rows, Plan plan) const {
    const auto measure = [*this, plan, unit = rows.unit](benchmark::State& state) {
      DeviceBench bench(platform_, precision_);
      const auto planned = plan(bench, state);
      OperationMeasurement measurement{
          .operation = [&] { repeat([&] { bench.enqueue(planned.op); }); },
          .operation_work = kCalls * planned.work,
          .unit = unit,
          .peaks = &peaks_};
      BareOperation bare;
      if (bench.is_host() && planned.bare) {
        bare = planned.bare();
        measurement.bare = [&] { repeat([&] { bench.enqueue_bare(bare.body); }); };
        measurement.bare_work = kCalls * bare.work;
      }
      compare(state, bench, measurement);
      state.SetLabel(bench.implementation());
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
      return PlannedOperation{make(bench, count), static_cast<double>(count * bytes) * 1e-9,
                              [&bench, count] { return copy_of(bench, count); }};
    });
  }

  // A copy of `count` floats from one place to another.
  [[nodiscard]] static BareOperation copy_of(DeviceBench& bench, std::int64_t count) {
    const Span<float> from = bench.random(count);
    const Span<float> to = bench.random(count);
    const auto bytes = static_cast<std::size_t>(from.size_bytes().value);
    return {[=] { std::memcpy(to.data(), from.data(), bytes); },
            2 * static_cast<double>(bytes) * 1e-9};
  }

 private:
  Platform& platform_;
  const Precision precision_;
  MeasuredPeaks& peaks_;
};

}  // namespace tandem::bench
