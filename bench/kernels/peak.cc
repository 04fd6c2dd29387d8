// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/peak.h"

#include <fmt/format.h>

#include <iostream>

#include "bench/driver/google_benchmark.h"
#include "bench/driver/time_summary.h"
#include "bench/step/achieved_flops.h"
#include "bench/step/measured_peak.h"
#include "common/kernels/operations.h"

namespace tandem::bench {
namespace {

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
  std::size_t sample = 0;
  for ([[maybe_unused]] auto iteration : state) state.SetIterationTime(product.seconds[sample++]);
  set_percentiles(state, summarise(product.seconds));
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
