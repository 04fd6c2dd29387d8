// SPDX-License-Identifier: Apache-2.0
#include "bench/google_benchmark.h"

#include <exception>
#include <fstream>
#include <utility>

#include "common/base/capture_error.h"

namespace tandem::bench {
namespace {

// For ranks that do not report. It must not refuse the context: that would skip the benchmarks.
class SilentReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

bool names(const std::string& flag, const char* name) {
  return flag == name || flag.starts_with(std::string(name) + "=");
}

// The value of "--flag=value"; empty where it has none.
std::string value_of(const std::string& flag) {
  const std::size_t equals = flag.find('=');
  return equals == std::string::npos ? "" : flag.substr(equals + 1);
}

}  // namespace

void check_writable(const std::string& path, const std::string& flag) {
  if (std::ofstream(path, std::ios::app)) return;
  fail(ErrorKind::kUsage,
       "{}: '{}' cannot be written: choose a file in a folder that you may write", flag, path);
}

GoogleBenchmark::GoogleBenchmark(const std::vector<std::string>& flags, int rank, int ranks)
    : reports_(rank == 0), arguments_{"step_bench"} {
  for (const std::string& flag : flags) {
    if (names(flag, "--benchmark_enable_random_interleaving") && ranks > 1) {
      fail(ErrorKind::kUsage, "{}: with {} ranks each would draw an order of its own: leave it out",
           flag, ranks);
    }
    // One file, one writer.
    if (names(flag, "--benchmark_out") && !reports_) continue;
    if (names(flag, "--benchmark_out")) check_writable(value_of(flag), "--benchmark_out");
    arguments_.push_back(flag);
  }
  std::vector<char*> argv;
  for (std::string& argument : arguments_) argv.push_back(argument.data());
  int argc = static_cast<int>(argv.size());
  benchmark::Initialize(&argc, argv.data());
  if (argc > 1) {
    fail(ErrorKind::kUsage,
         "'{}' is no flag of Google Benchmark, or its value is none: see "
         "--benchmark_help of its manual",
         argv[1]);
  }
}

GoogleBenchmark::~GoogleBenchmark() { benchmark::Shutdown(); }

void GoogleBenchmark::add_context(const std::string& key, const std::string& value) {
  benchmark::AddCustomContext(key, value);
}

void GoogleBenchmark::add(const std::string& name, int iterations, benchmark::TimeUnit unit,
                          std::function<void(benchmark::State&)> body) {
  const auto guarded = [this, body = std::move(body)](benchmark::State& state) {
    const std::optional<Error> failure = capture_error([&] { body(state); });
    if (!failure) return;
    state.SkipWithError(failure->what());
    if (!failure_) failure_.emplace(*failure);
  };
  benchmark::RegisterBenchmark(name.c_str(), guarded)
      ->UseManualTime()
      ->Iterations(iterations)
      ->Unit(unit);
}

void GoogleBenchmark::run() {
  SilentReporter silent;
  if (reports_) {
    benchmark::RunSpecifiedBenchmarks();
  } else {
    benchmark::RunSpecifiedBenchmarks(&silent);
  }
  if (failure_) throw Error(*failure_);
}

}  // namespace tandem::bench
