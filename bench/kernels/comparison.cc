// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/comparison.h"

#include <utility>

#include "common/base/units.h"
#include "common/runtime/host/host_stream.h"

namespace tandem::bench {

DeviceBench::DeviceBench(Platform& platform, Precision precision)
    : platform_(platform),
      device_(platform.device(0)),
      type_(storage_of(precision)),
      // A row is held against the peak of its precision, so that fp32 is not tf32 anywhere.
      operations_(make_operations(device_, precision, {.fp32_factors = true})),
      stream_(device_.make_stream(StreamPriority::kNormal)) {}

Buffer& DeviceBench::allocate(Bytes size) { return *buffers_.emplace_back(device_.allocate(size)); }

Span<float> DeviceBench::random(std::int64_t count) {
  const Span<float> values = allocate(bytes_of<float>(count)).as<float>(count);
  enqueue(FillRandom{.values = values, .seed = buffers_.size()});
  stream_->synchronize();
  return values;
}

AnySpan DeviceBench::random(std::int64_t count, DType type) {
  const Span<float> wide = random(count);
  if (type == DType::kFloat32) return wide;
  const AnySpan narrow = allocate(Bytes{count * size_of(type)}).as(type, count);
  enqueue(Convert{.in = wide, .out = narrow});
  stream_->synchronize();
  return narrow;
}

void DeviceBench::enqueue_bare(std::function<void()> body) {
  host::host_stream(*stream_).enqueue({"bare", {}, std::move(body)});
}

double DeviceBench::timed(const std::function<void()>& enqueue_all) {
  const TimePoint start = Clock::now();
  enqueue_all();
  stream_->synchronize();
  return Seconds(Clock::now() - start).count();
}

namespace {

void set_rate(benchmark::State& state, double rate, const char* unit, MeasuredPeaks& peaks) {
  state.counters[unit] = rate;
  const double peak = peaks.of(unit);
  if (peak > 0) state.counters["of_peak"] = rate / peak;
}

}  // namespace

void compare(benchmark::State& state, DeviceBench& bench, const OperationMeasurement& measurement) {
  const bool has_bare = measurement.bare != nullptr;
  static_cast<void>(bench.timed(measurement.operation));  // creates primitives, takes page faults
  if (has_bare) static_cast<void>(bench.timed(measurement.bare));
  double operation_time = 0;
  double bare_time = 0;
  double rounds = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const double took = bench.timed(measurement.operation);
    state.SetIterationTime(took);
    operation_time += took;
    if (has_bare) bare_time += bench.timed(measurement.bare);
    ++rounds;
  }
  if (operation_time <= 0) return;  // counters must be finite numbers
  const double rate = rounds * measurement.operation_work / operation_time;
  set_rate(state, rate, measurement.unit, *measurement.peaks);
  if (bare_time <= 0) return;
  const double bare_rate = rounds * measurement.bare_work / bare_time;
  state.counters[std::string("bare_") + measurement.unit] = bare_rate;
  state.counters["share"] = rate / bare_rate;
}

}  // namespace tandem::bench
