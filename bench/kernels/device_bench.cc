// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/device_bench.h"

#include <utility>

#include "common/base/clock.h"
#include "common/runtime/host/host_stream.h"

namespace tandem::bench {

DeviceBench::DeviceBench(Platform& platform, Precision precision)
    : platform_(platform),
      device_(platform.device(0)),
      type_(storage_of(precision)),
      operations_(make_operations(device_, precision)),
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

double DeviceBench::timed_by_device(const std::function<void()>& enqueue_all) {
  const auto start = device_.make_timed_event();
  const auto end = device_.make_timed_event();
  stream_->record(*start);
  enqueue_all();
  stream_->record(*end);
  stream_->synchronize();
  return Seconds(*end - *start).count();
}

}  // namespace tandem::bench
