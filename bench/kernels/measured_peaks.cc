// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/measured_peaks.h"

#include <algorithm>
#include <vector>

#include "bench/step/measured_peak.h"
#include "common/base/error.h"
#include "common/runtime/copy.h"
#include "common/stats/summary.h"

namespace tandem::bench {
namespace {

// The largest size of each of the two buffers, far beyond a core's own caches.
constexpr Bytes kCopied{std::int64_t{512} << 20};
constexpr int kSamples = 7;

// The size of each buffer: both buffers take a quarter of the remaining memory at most.
Bytes copied_size(const Device& device) {
  const MemoryUse memory = device.memory();
  const std::int64_t left = memory.capacity.value - memory.used.value;
  return std::min(kCopied, Bytes{left / 8});
}

}  // namespace

double copy_bandwidth(Device& device, Bytes size) {
  const auto from = device.allocate(size);
  const auto to = device.allocate(size);
  const auto stream = device.make_stream(StreamPriority::kNormal);
  const auto start = device.make_timed_event();
  const auto end = device.make_timed_event();
  const auto copy = [&] {
    stream->record(*start);
    enqueue_copy(*stream, to->as<float>(), Span<const float>(from->as<float>()));
    stream->record(*end);
    stream->synchronize();
    return Seconds(*end - *start).count();
  };
  for (int i = 0; i < 2; ++i) static_cast<void>(copy());
  std::vector<double> seconds;
  for (int i = 0; i < kSamples; ++i) seconds.push_back(copy());
  return 2 * static_cast<double>(size.value) / stats::median(seconds);
}

double MeasuredPeaks::of(std::string_view unit) {
  Device& device = platform_.device(0);
  if (unit == "gflops") {
    if (!gflops_) gflops_ = peak_flops(measure_products(device, precision_)) * 1e-9;
    return *gflops_;
  }
  TANDEM_CHECK(unit == "GB/s", "a peak in {}", unit);
  if (!gigabytes_) {
    const Bytes size = copied_size(device);
    gigabytes_ = size.value > 0 ? copy_bandwidth(device, size) * 1e-9 : 0;
  }
  return *gigabytes_;
}

}  // namespace tandem::bench
