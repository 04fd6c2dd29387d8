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
  return flag.starts_with(std::string(name) + "=");
}

// Google Benchmark appends how a benchmark is run to its name ("/iterations:45/manual_time"). The
// number of samples is found from time, and two runs of one thing must have one name: compare.py
// matches by it.
template <class Reporter>
class PlainNames : public Reporter {
 public:
  using Reporter::Reporter;

  void ReportRuns(const std::vector<benchmark::BenchmarkReporter::Run>& runs) override {
    std::vector<benchmark::BenchmarkReporter::Run> plain = runs;
    for (auto& run : plain) {
      run.run_name.iterations.clear();
      run.run_name.time_type.clear();
    }
    Reporter::ReportRuns(plain);
  }
};

// Without the context that the library prints of itself: the machine is said in the record, and the
// library's own build type (Debian's is a debug build) says nothing of what is timed here.
class Table final : public PlainNames<benchmark::ConsoleReporter> {
 public:
  Table() : PlainNames(OO_None) {}

  bool ReportContext(const Context& context) override {
    name_field_width_ = context.name_field_width;
    printed_header_ = false;
    prev_counters_.clear();
    return true;
  }
};

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

GoogleBenchmark::GoogleBenchmark(const std::string& program, const std::vector<std::string>& flags,
                                 int rank)
    : reports_(rank == 0), arguments_{program} {
  for (const std::string& flag : flags) {
    if (names(flag, "--benchmark_out")) {
      if (!reports_) continue;  // one file, one writer
      check_writable(value_of(flag), "--benchmark_out");
      writes_file_ = true;
    } else if (flag == "--benchmark_format=json") {
      prints_json_ = true;
    } else if (!names(flag, "--benchmark_context")) {
      fail(ErrorKind::kUsage,
           "'{}' is not for {}, which decides itself what it runs: of Google Benchmark's flags use "
           "--benchmark_out=FILE, --benchmark_format=json or --benchmark_context=KEY=VALUE",
           flag, program);
    }
    arguments_.push_back(flag);
  }
  std::vector<char*> argv;
  for (std::string& argument : arguments_) argv.push_back(argument.data());
  int argc = static_cast<int>(argv.size());
  benchmark::Initialize(&argc, argv.data());
}

GoogleBenchmark::~GoogleBenchmark() { benchmark::Shutdown(); }

void GoogleBenchmark::add_context(const std::string& key, const std::string& value) {
  benchmark::AddCustomContext(key, value);
}

void GoogleBenchmark::add(const std::string& name, int iterations, benchmark::TimeUnit unit,
                          std::function<void(benchmark::State&)> body) {
  const auto guarded = [this, body = std::move(body)](benchmark::State& state) {
    if (failure_) {  // ranks may be out of step with one another
      state.SkipWithError("not run: an earlier benchmark failed");
      return;
    }
    const std::optional<Error> failure = capture_error([&] { body(state); });
    if (!failure) return;
    state.SkipWithError(failure->what());
    failure_.emplace(*failure);
  };
  benchmark::RegisterBenchmark(name.c_str(), guarded)
      ->UseManualTime()
      ->Iterations(iterations)
      ->Unit(unit);
}

void GoogleBenchmark::run() {
  SilentReporter silent;
  Table console;
  PlainNames<benchmark::JSONReporter> json;
  PlainNames<benchmark::JSONReporter> file;
  benchmark::BenchmarkReporter* display = &silent;
  if (reports_ && prints_json_) display = &json;
  if (reports_ && !prints_json_) display = &console;
  benchmark::RunSpecifiedBenchmarks(display, writes_file_ ? &file : nullptr);
  if (failure_) throw Error(*failure_);
}

}  // namespace tandem::bench
