// SPDX-License-Identifier: Apache-2.0
#include "bench/driver/google_benchmark.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

namespace tandem::bench {

namespace {

// The reporter of ranks that do not report. ReportContext() must not refuse the context, since the
// library would then skip the benchmarks.
class SilentReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

// Google Benchmark appends how a benchmark is run to the benchmark's name
// ("/iterations:45/manual_time"). The number of samples here is found from time, and two runs of
// one benchmark must have one name, since compare.py matches by name. The library applies
// --benchmark_time_unit only to benchmarks without a unit of their own.
template <class Reporter>
class AsAsked : public Reporter {
 public:
  using Reporter::Reporter;

  void ReportRuns(const std::vector<benchmark::BenchmarkReporter::Run>& runs) override {
    std::vector<benchmark::BenchmarkReporter::Run> plain = runs;
    for (auto& run : plain) {
      // A counter may be infinite or NaN, such as the variation of values that are all 0: JSON has
      // no number for such a counter.
      std::erase_if(run.counters, [](const auto& it) { return !std::isfinite(it.second.value); });
      if (run.run_name.iterations.empty()) continue;
      run.run_name.iterations.clear();
      run.run_name.time_type.clear();
    }
    Reporter::ReportRuns(plain);
  }
};

// Prints the library's context on the error stream, as the library does, but leaves out the
// library's own build type: Debian's library is a debug build, which says nothing of the code timed
// here.
class ConsoleTable final : public AsAsked<benchmark::ConsoleReporter> {
 public:
  explicit ConsoleTable(bool says_context) : AsAsked(OO_None), says_context_(says_context) {}

  bool ReportContext(const Context& context) override {
    name_field_width_ = context.name_field_width;
    printed_header_ = false;
    prev_counters_.clear();
    if (says_context_) say(context);
    return true;
  }

 private:
  static void say(const Context& context) {
    std::stringstream text;
    PrintBasicContext(&text, context);
    for (std::string line; std::getline(text, line);) {
      if (!line.starts_with("***WARNING*** Library was built as DEBUG")) std::cerr << line << '\n';
    }
    std::cerr << std::flush;
  }

  const bool says_context_;
};

std::unique_ptr<benchmark::BenchmarkReporter> make_display(const BenchmarkFlags& flags) {
  if (flags.format == "json") return std::make_unique<AsAsked<benchmark::JSONReporter>>();
  return std::make_unique<ConsoleTable>(flags.says_context);
}

// To be called when all benchmarks have run, as the library does not check its file. Throws a
// failure where the file is cut off.
void check_written(const BenchmarkFlags& flags) {
  std::error_code unknown;
  if (flags.out.empty() || !std::filesystem::is_regular_file(flags.out, unknown)) return;
  std::ifstream file(flags.out, std::ios::binary | std::ios::ate);
  char last = 0;
  if (file.tellg() > 0) file.seekg(-1, std::ios::end).get(last);
  if (last == '\n') return;
  fail(ErrorKind::kFailure, "--benchmark_out: writing {} failed; is the disk full?", flags.out);
}

}  // namespace

void check_writable(const std::string& path, const std::string& flag) {
  std::error_code unknown;
  const bool was_there = std::filesystem::exists(path, unknown);
  if (std::ofstream(path, std::ios::app)) {
    // A program that is interrupted would leave an empty file, which would pass for its results.
    if (!was_there) std::filesystem::remove(path, unknown);
    return;
  }
  fail(ErrorKind::kUsage,
       "{}: '{}' cannot be written: choose a file in a folder that you may write", flag, path);
}

void check_replaceable(const std::string& path, const std::string& flag) {
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) return;
  if (std::filesystem::is_regular_file(path, unknown)) return;
  fail(ErrorKind::kUsage,
       "{}: '{}' is no plain file, of which old text could be replaced by new: choose another",
       flag, path);
}

// Only the rank that reports knows the file, so that one rank alone writes the file.
GoogleBenchmark::GoogleBenchmark(const std::string& program, BenchmarkFlags flags, int rank)
    : reports_(rank == 0),
      flags_(std::move(flags)),
      program_(program),
      out_flag_("--benchmark_out=" + flags_.out) {
  const bool writes = reports_ && !flags_.out.empty();
  if (writes) check_writable(flags_.out, "--benchmark_out");
  std::array argv{program_.data(), out_flag_.data()};
  int argc = writes ? 2 : 1;
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
  std::unique_ptr<benchmark::BenchmarkReporter> display;
  std::unique_ptr<benchmark::BenchmarkReporter> file;
  if (reports_) {
    display = make_display(flags_);
    if (!flags_.out.empty()) file = std::make_unique<AsAsked<benchmark::JSONReporter>>();
  }
  benchmark::RunSpecifiedBenchmarks(display ? display.get() : &silent, file.get());
  if (failure_) throw Error(*failure_);
  if (reports_) check_written(flags_);
}

}  // namespace tandem::bench
