// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/operation_registry.h"

#include "common/base/units.h"

namespace tandem::bench {

DeviceBench::DeviceBench(Platform& platform, Precision precision)
    : device_(platform.device(0)),
      type_(storage_of(precision)),
      // A row is of its precision, so that fp32 is not tf32 anywhere.
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
  enqueue(Convert{.tensors = {{wide, narrow}}});
  stream_->synchronize();
  return narrow;
}

double DeviceBench::timed(const std::function<void()>& enqueue) {
  const TimePoint start = Clock::now();
  enqueue();
  stream_->synchronize();
  return Seconds(Clock::now() - start).count();
}

void DeviceBench::measure(benchmark::State& state, const std::function<void()>& enqueue,
                          double work, const char* unit) {
  static_cast<void>(timed(enqueue));  // creates primitives, takes page faults
  double seconds = 0;
  double rounds = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const double took = timed(enqueue);
    state.SetIterationTime(took);
    seconds += took;
    ++rounds;
  }
  if (seconds > 0) state.counters[unit] = rounds * work / seconds;  // counters must be finite
  const auto ways = operations_->implementations();
  state.SetLabel(ways.empty() ? "" : ways.begin()->second);
}

}  // namespace tandem::bench
