// SPDX-License-Identifier: Apache-2.0
//
// The speed of one device's operations, each next to a bare operation where there is one; or with
// --peak the speed of large matrix products, with which the FLOP/s of training steps are compared.
#include <benchmark/benchmark.h>

#include <iostream>

#include "bench/driver/google_benchmark.h"
#include "bench/driver/ranks_main.h"
#include "bench/kernels/measured_peaks.h"
#include "bench/kernels/operation_benchmarks.h"
#include "bench/kernels/options.h"
#include "bench/step/measured_peak.h"
#include "common/base/error.h"
#include "common/kernels/host_support.h"

namespace tandem::bench {
namespace {

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
  if (const auto warning = precision_warning(platform.backend(), precision)) {
    std::cerr << "kernel_bench: warning: " << *warning << std::endl;
  }
  MeasuredPeaks peaks(platform, precision);
  register_operations(platform, precision, peaks);
  const auto display = make_reporter(flags.display, flags);
  const auto file = make_file_reporter(flags);
  if (benchmark::RunSpecifiedBenchmarks(display.get(), file.get()) == 0) {
    fail_none_selected(flags.filter);
  }
  benchmark::Shutdown();
  check_written(flags);
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
    const auto options = parse_kernel_options(argc, argv);
    return options ? run(*options) : 0;
  });
}
