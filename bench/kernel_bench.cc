// SPDX-License-Identifier: Apache-2.0
//
// The speed of one device's operations, or with --peak the speed of large matrix products, with
// which the FLOP/s of training steps are compared.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "bench/driver/google_benchmark.h"
#include "bench/driver/ranks_main.h"
#include "bench/driver/sampler.h"
#include "bench/kernels/operation_registry.h"
#include "bench/step/measured_peak.h"
#include "common/base/error.h"
#include "common/kernels/host_support.h"
#include "common/runtime/registry.h"

namespace tandem::bench {
namespace {

struct KernelOptions {
  bool peak = false;                     // measures peaks instead of operations
  std::optional<Precision> precision{};  // none: with `peak` all that the device has, else fp32
  BackendChoice backend = BackendChoice::kAuto;
  std::vector<std::string> benchmark_flags{};  // --benchmark_..., for Google Benchmark
};

// Throws usage errors; with --help, prints the help and returns nothing.
std::optional<KernelOptions> parse(int argc, const char* const* argv) {
  CLI::App app("Times the operations of one device, or with --peak its largest matrix products.",
               "kernel_bench");
  KernelOptions options;
  std::string precision;
  std::string backend = "auto";
  app.add_flag(
      "--peak", options.peak,
      "the measured peak, by square products of several sizes, in place of the operations");
  app.add_option("--precision", precision,
                 "of the products; tf32 is for GPUs; default: fp32, with --peak all that the "
                 "device has")
      ->type_name("fp32|tf32|bf16");
  app.add_option("--backend", backend, "where the device is; auto: a GPU where there is one")
      ->type_name("auto|host|cuda")
      ->capture_default_str();
  app.footer(
      "Examples:\n"
      "  kernel_bench --benchmark_filter=linear_forward\n"
      "  kernel_bench --peak --precision=bf16\n"
      "Of Google Benchmark's flags all, but with --peak only those that say where output goes.\n"
      "Exit status: 0 measured, 1 failed, 2 wrong usage.");
  if (!parse_with_benchmark_flags(app, argc, argv, options.benchmark_flags)) return std::nullopt;
  if (!precision.empty()) options.precision = parse_precision(precision, "--precision");
  options.backend = parse_backend(backend);
  return options;
}

// These benchmarks find their number of iterations themselves, as elsewhere in the library: the
// library's two times stay with the library.
BenchmarkFlags checked_flags(std::vector<std::string> flags) {
  for (const char* name : {"--benchmark_min_time", "--benchmark_min_warmup_time"}) {
    static_cast<void>(take_duration(flags, name, "a time in seconds"));
  }
  BenchmarkFlags read = read_benchmark_flags("kernel_bench", flags, 1);
  if (!read.out.empty()) check_writable(read.out, "--benchmark_out");
  return read;
}

void warn_of(Backend backend, Precision precision) {
  if (const auto warning = precision_warning(backend, precision)) {
    std::cerr << fmt::format("kernel_bench: warning: {}\n", *warning);
  }
}

void run_operations(const KernelOptions& options, const BenchmarkFlags& flags, Platform& platform) {
  std::vector<std::string> words{"kernel_bench"};
  words.insert(words.end(), options.benchmark_flags.begin(), options.benchmark_flags.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  benchmark::Initialize(&argc, argv.data());
  if (argc > 1) fail(ErrorKind::kUsage, "'{}' is not understood: check its value", argv[1]);
  const Precision precision = options.precision.value_or(Precision::kFp32);
  static_cast<void>(make_operations(platform.device(0), precision));  // refused before the first
  warn_of(platform.backend(), precision);
  register_operations(OperationRegistry(platform, precision));
  const auto display = make_reporter(flags.display, flags);
  const auto file = make_file_reporter(flags);
  if (benchmark::RunSpecifiedBenchmarks(display.get(), file.get()) == 0) {
    fail_none_selected(flags.filter);
  }
  benchmark::Shutdown();
  check_written(flags);
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

void add(GoogleBenchmark& driver, Backend backend, Precision precision,
         const std::vector<ProductSpeed>& products) {
  for (const ProductSpeed& product : products) {
    driver.add(
        fmt::format("peak/{}/{}/size:{}", to_string(backend), name_of(precision), product.size),
        static_cast<int>(product.seconds.size()), benchmark::kMillisecond,
        [product](benchmark::State& state) {
          replay_samples(state, product.seconds);
          state.counters["gflops"] = product.flops() * 1e-9;
        });
  }
}

// Measures the peak of the first device in each precision that the options ask for, as Google
// Benchmark's entries and as a table for people. Throws usage errors.
void run_peak(const KernelOptions& options, Platform& platform) {
  const BenchmarkFlags flags = read_benchmark_flags("kernel_bench", options.benchmark_flags, 1);
  refuse_repetitions(flags, "the peak is one figure of all its products: run it again instead");
  GoogleBenchmark driver("kernel_bench", flags, 0);
  Device& device = platform.device(0);
  const std::vector<Precision> asked =
      options.precision ? std::vector{*options.precision} : available(device);
  std::string table;
  for (const Precision precision : asked) {
    warn_of(platform.backend(), precision);
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

int run(const KernelOptions& options) {
  const BenchmarkFlags flags = checked_flags(options.benchmark_flags);
  const BackendDecision decision = choose_backend(options.backend, {});
  std::cerr << decision.why << std::endl;
  const auto platform = open_platform(decision.backend, {});
  benchmark::AddCustomContext("kernel_library", kernel_library_version());
  benchmark::AddCustomContext("tandem_backend", to_string(platform->backend()));
  if (options.peak) {
    run_peak(options, *platform);
  } else {
    run_operations(options, flags, *platform);
  }
  return 0;
}

}  // namespace
}  // namespace tandem::bench

int main(int argc, char** argv) {
  using namespace tandem::bench;
  restart_in_clean_environment(argv);
  return run_main("kernel_bench", [&] {
    const auto options = parse(argc, argv);
    return options ? run(*options) : 0;
  });
}
