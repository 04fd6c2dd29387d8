// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/measured_peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <vector>

#include "bench/driver/google_benchmark.h"
#include "bench/driver/sampler.h"
#include "bench/step/measured_peak.h"
#include "common/base/error.h"
#include "common/kernels/operations.h"
#include "common/runtime/copy.h"
#include "common/runtime/event_pair.h"
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

// Bytes per second, read and written, of copies of `size` from one buffer of the device to another,
// by the device's own clock: the median of 7 samples, after two untimed copies.
double copy_bandwidth(Device& device, Bytes size) {
  const auto from = device.allocate(size);
  const auto to = device.allocate(size);
  const auto stream = device.make_stream(StreamPriority::kNormal);
  EventPair timed(device);
  const auto copy = [&] {
    timed.around(*stream, [&] {
      enqueue_copy(*stream, to->as<float>(), Span<const float>(from->as<float>()));
    });
    stream->synchronize();
    return Seconds(timed.time()).count();
  };
  for (int i = 0; i < 2; ++i) static_cast<void>(copy());
  std::vector<double> seconds;
  for (int i = 0; i < kSamples; ++i) seconds.push_back(copy());
  return 2 * static_cast<double>(size.value) / stats::median(seconds);
}

// The precisions that the device has operations for.
std::vector<Precision> available(Device& device) {
  std::vector<Precision> found;
  for (const Precision precision : kPrecisions) {
    try {
      static_cast<void>(make_operations(device, precision));
      found.push_back(precision);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kUsage || precision == Precision::kFp32) throw;
    }
  }
  return found;
}

void report(benchmark::State& state, const ProductSpeed& product) {
  replay_samples(state, product.seconds);
  state.counters["gflops"] = product.flops() * 1e-9;
}

void add(GoogleBenchmark& driver, Backend backend, Precision precision,
         const std::vector<ProductSpeed>& products) {
  for (const ProductSpeed& product : products) {
    driver.add(
        fmt::format("peak/{}/{}/size:{}", to_string(backend), name_of(precision), product.size),
        static_cast<int>(product.seconds.size()), benchmark::kMillisecond,
        [product](benchmark::State& state) { report(state, product); });
  }
}

}  // namespace

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

void run_peak(const KernelOptions& options, Platform& platform) {
  const BenchmarkFlags flags = read_benchmark_flags("kernel_bench", options.benchmark_flags, 1);
  refuse_repetitions(flags, "the peak is one figure of all its products: run it again instead");
  GoogleBenchmark driver("kernel_bench", flags, 0);
  Device& device = platform.device(0);
  const std::vector<Precision> asked =
      options.precision ? std::vector{*options.precision} : available(device);
  std::string table;
  for (const Precision precision : asked) {
    if (const auto warning = precision_warning(platform.backend(), precision)) {
      std::cerr << fmt::format("kernel_bench: warning: {}\n", *warning);
    }
    const std::vector<ProductSpeed> products = measure_products(device, precision);
    if (products.empty()) {
      fail(ErrorKind::kOutOfMemory, "no product fits into the memory that {} has left",
           to_string(device.id()));
    }
    const double peak = peak_flops(products) * 1e-9;
    GoogleBenchmark::add_context(fmt::format("tandem_peak_gflops_{}", name_of(precision)),
                                 fmt::format("{}", peak));
    add(driver, platform.backend(), precision, products);
    table += fmt::format("measured peak of {} in {}: {:.4g} GFLOP/s\n", to_string(device.id()),
                         name_of(precision), peak);
  }
  driver.run();
  std::cerr << table;
}

}  // namespace tandem::bench
