// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/kernels/comparison.h"
#include "bench/kernels/operation_benchmarks.h"
#include "bench/kernels/step_share.h"
#include "common/model/zoo.h"
#include "common/parallel/single.h"

namespace tandem::bench {

namespace {

// The strategy `single` itself, input copy, loss and optimizer included, next to bare products.
void single_step(benchmark::State& state, Platform& platform, Precision precision,
                 MeasuredPeaks& peaks) {
  constexpr int kLayers = 4;
  DeviceBench bench(platform, precision);
  const std::int64_t batch = state.range(0);
  const std::int64_t width = state.range(1);
  const auto model = make_model(fmt::format("mlp:{}x{}", kLayers, width));
  Single single(platform, bench.device(), *model, Shard{0, batch},
                {.global_batch = batch, .precision = precision});
  BareStep bare(bench, *model, batch);
  const double work = model->flops_per_sample() * static_cast<double>(batch) * 1e-9;
  const OperationMeasurement measurement{
      .operation =
          [&] {
            single.step();
            single.synchronize();
          },
      .bare = [&] { bare.enqueue(); },
      .afterwards = [&] { static_cast<void>(single.collect_phases()); },
      .operation_work = work,
      .bare_work = work,
      .unit = "gflops",
      .peaks = &peaks};
  compare(state, bench, measurement);
}

// Times an operation that does nothing: the stream's own work, per operation. A step of single on 4
// layers has 18 operations and 6 marks of phases.
void empty_operations(benchmark::State& state, Platform& platform) {
  constexpr int kOperations = 1000;
  DeviceBench bench(platform, Precision::kFp32);
  double seconds = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const double took = bench.timed([&] {
      for (int i = 0; i < kOperations; ++i) bench.enqueue_bare([] {});
    });
    state.SetIterationTime(took);
    seconds += took;
  }
  const double operations = kOperations * static_cast<double>(state.iterations());
  state.counters["ns_per_operation"] = seconds / operations * 1e9;
}

}  // namespace

void register_steps(Platform& platform, Precision precision, MeasuredPeaks& peaks) {
  const auto manual = [](benchmark::internal::Benchmark* b) {
    b->UseManualTime()->Unit(benchmark::kMicrosecond);
  };
  benchmark::RegisterBenchmark("single_step",
                               [&platform, precision, &peaks](benchmark::State& state) {
                                 single_step(state, platform, precision, peaks);
                               })
      ->ArgNames({"batch", "width"})
      ->ArgsProduct({{64, 256, 512}, {1024}})
      ->Args({8, 64})  // hardly any arithmetic: the cost of the calls
      ->Apply(manual);
  if (platform.backend() != Backend::kHost) return;
  benchmark::RegisterBenchmark("empty_operations", [&platform](benchmark::State& state) {
    empty_operations(state, platform);
  })->Apply(manual);
}

}  // namespace tandem::bench
