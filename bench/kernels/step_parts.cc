// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/step_parts.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <utility>
#include <vector>

#include "bench/driver/flag_values.h"
#include "bench/driver/google_benchmark.h"
#include "bench/kernels/comparison.h"
#include "bench/kernels/operation_benchmarks.h"
#include "bench/kernels/step_share.h"
#include "bench/step/measured_peak.h"
#include "common/model/zoo.h"
#include "common/parallel/single.h"
#include "common/runtime/host/host_stream.h"
#include "common/stats/summary.h"

namespace tandem::bench {

namespace {

using host::WorkAccount;

constexpr int kUntimedSteps = 5;  // steps that create primitives and take page faults

double seconds(Nanoseconds time) { return Seconds(time).count(); }

// Whether the stream itself does the operation, where a step asks for no arithmetic.
bool is_copy(std::string_view operation) { return operation == "copy" || operation == "zero"; }

// Finds the stream on which the step runs.
class StreamFinder final : public StepObserver {
 public:
  void phase_begins(Device& /*device*/, Stream& stream, Phase /*phase*/) override {
    stream_ = &stream;
  }
  void step_ends(Device& /*device*/, Stream& /*stream*/) override {}

  [[nodiscard]] host::HostStream& stream() const { return host::host_stream(*stream_); }

 private:
  Stream* stream_ = nullptr;
};

TrainingOptions training_of(const KernelOptions& options, StreamFinder& finder) {
  TrainingOptions training{.global_batch = options.batch,
                           .precision = options.precision.value_or(Precision::kFp32),
                           .input = options.input};
  training.phases.observers.push_back(&finder);
  return training;
}

class PartsSampler {
 public:
  PartsSampler(Platform& platform, const Model& model, const KernelOptions& options)
      : single_(platform, platform.device(0), model, Shard{0, options.batch},
                training_of(options, finder_)) {
    for (int i = 0; i < kUntimedSteps; ++i) step();
  }

  // Takes a step; returns the step's seconds.
  double sample() {
    finder_.stream().open_account();
    finder_.stream().synchronize();
    const TimePoint start = Clock::now();
    const Nanoseconds own_start = host::thread_time();
    step();
    const Nanoseconds own = host::thread_time() - own_start;
    const Nanoseconds whole = Clock::now() - start;
    const WorkAccount account = finder_.stream().close_account();
    for (const auto& [name, work] : account.operations) {
      WorkAccount::Work& sum = total_.operations[name];
      sum.count += work.count;
      sum.time += work.time;
    }
    total_.worker += account.worker;
    whole_ += whole;
    dispatch_ += own;
    outside_.push_back(parts_of(account, whole, own).outside());
    static_cast<void>(single_.collect_phases());
    return seconds(whole);
  }

  // The parts summed over the steps so far; sums have the shares of the mean step.
  [[nodiscard]] StepParts sum() const { return parts_of(total_, whole_, dispatch_); }
  [[nodiscard]] double median_outside() const { return stats::median(outside_); }
  [[nodiscard]] std::string table() const;

 private:
  void step() {
    single_.step();
    single_.synchronize();
  }

  StreamFinder finder_;
  Single single_;
  WorkAccount total_;
  Nanoseconds whole_{0};
  Nanoseconds dispatch_{0};
  std::vector<double> outside_;  // share outside operations, by step
};

// The operations by their time in a step, the longest first.
std::string PartsSampler::table() const {
  std::vector<std::pair<std::string_view, WorkAccount::Work>> rows(total_.operations.begin(),
                                                                   total_.operations.end());
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
  const auto steps = static_cast<double>(outside_.size());
  std::string text;
  for (const auto& [name, work] : rows) {
    text += fmt::format("{:30} {:6.2f} % {:10.4f} ms {:8.4g} times a step\n", name,
                        100 * seconds(work.time) / seconds(whole_),
                        seconds(work.time) / steps * 1e3, static_cast<double>(work.count) / steps);
  }
  return text;
}

void set_counters(benchmark::State& state, const PartsSampler& sampler) {
  const StepParts parts = sampler.sum();
  state.counters["outside_share"] = parts.outside();
  state.counters["median_outside_share"] = sampler.median_outside();
  state.counters["dispatch_share"] = parts.dispatch / parts.whole;
  state.counters["queue_share"] = parts.queue / parts.whole;
  state.counters["copies_share"] = parts.copies / parts.whole;
  state.counters["waiting_share"] = parts.waiting() / parts.whole;
}

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

StepParts parts_of(const WorkAccount& account, Nanoseconds whole, Nanoseconds dispatch) {
  StepParts parts{.whole = seconds(whole), .dispatch = seconds(dispatch)};
  for (const auto& [name, work] : account.operations) {
    (is_copy(name) ? parts.copies : parts.operations) += seconds(work.time);
  }
  parts.queue = seconds(account.worker) - parts.operations - parts.copies;
  return parts;
}

std::string to_text(const StepParts& parts) {
  const auto share = [&parts](double part) { return 100 * part / parts.whole; };
  return fmt::format(
      "{:.2f} % of a step lie outside operations: "
      "dispatch {:.2f} %, queue {:.2f} %, copies {:.2f} %, waiting {:.2f} %",
      100 * parts.outside(), share(parts.dispatch), share(parts.queue), share(parts.copies),
      share(parts.waiting()));
}

void run_step_parts(const KernelOptions& options, Platform& platform) {
  if (platform.backend() != Backend::kHost) {
    fail(ErrorKind::kUsage,
         "--parts-of={} on {}: only the worker of a host device keeps such an account: use "
         "--backend=host, or a profiler of GPUs",
         options.parts_of, to_string(platform.backend()));
  }
  const BenchmarkFlags flags = read_benchmark_flags("kernel_bench", options.benchmark_flags, 1);
  refuse_repetitions(flags, "all steps are one account: use --steps for more of them");
  const auto model = make_model(options.parts_of);
  const Precision precision = options.precision.value_or(Precision::kFp32);
  GoogleBenchmark driver("kernel_bench", flags, 0);
  const std::string name =
      fmt::format("step_parts/host/{}/{}/batch:{}/input:{}", name_of(precision), model->name(),
                  options.batch, name_of(options.input, kInputs));
  if (driver.leaves_out(name)) {
    driver.add(name, options.steps, benchmark::kMillisecond, {});
    return driver.run();
  }
  platform.device(0).bind_this_thread();
  PartsSampler sampler(platform, *model, options);
  driver.add(name, options.steps, benchmark::kMillisecond, [&](benchmark::State& state) {
    for ([[maybe_unused]] auto iteration : state) {
      state.SetIterationTime(sampler.sample());
    }
    set_counters(state, sampler);
  });
  driver.run();
  std::cerr << sampler.table() << to_text(sampler.sum()) << std::endl;
}

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
