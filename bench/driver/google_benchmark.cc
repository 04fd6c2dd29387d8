// SPDX-License-Identifier: Apache-2.0
#include "bench/driver/google_benchmark.h"

#include <fmt/format.h>

#include <cmath>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "common/base/text.h"

namespace tandem::bench {

namespace {

using Run = benchmark::BenchmarkReporter::Run;

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
  template <class... Arguments>
  explicit AsAsked(std::optional<benchmark::TimeUnit> unit, Arguments... arguments)
      : Reporter(arguments...), unit_(unit) {}

  void ReportRuns(const std::vector<benchmark::BenchmarkReporter::Run>& runs) override {
    std::vector<benchmark::BenchmarkReporter::Run> plain = runs;
    for (auto& run : plain) {
      run.time_unit = unit_.value_or(run.time_unit);
      // A counter may be infinite or NaN, such as the variation of values that are all 0: JSON has
      // no number for such a counter.
      std::erase_if(run.counters, [](const auto& it) { return !std::isfinite(it.second.value); });
      if (run.run_name.iterations.empty()) continue;
      run.run_name.iterations.clear();
      run.run_name.time_type.clear();
    }
    Reporter::ReportRuns(plain);
  }

 private:
  const std::optional<benchmark::TimeUnit> unit_;
};

// Prints the library's context on the error stream, as the library does, but leaves out the
// library's own build type: Debian's library is a debug build, which says nothing of the code timed
// here.
class ConsoleTable final : public AsAsked<benchmark::ConsoleReporter> {
 public:
  ConsoleTable(const BenchmarkFlags& flags, OutputOptions options)
      : AsAsked(flags.unit, options), says_context_(flags.says_context) {}

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

// Google Benchmark 1.8 has `skipped` and `skip_message` in place of `error_occurred` and
// `error_message`. Only errors skip a run here. The readers are templates, since only in a template
// may a name that one version lacks stand in a branch that is not taken.
template <class AnyRun>
bool has_failed(const AnyRun& run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred;
  } else {
    return static_cast<bool>(run.skipped);
  }
}

template <class AnyRun>
const std::string& error_message(const AnyRun& run) {
  if constexpr (requires { run.error_message; }) {
    return run.error_message;
  } else {
    return run.skip_message;
  }
}

// The times are empty where a run has none, as in the library's CSV.
std::string times_of(const Run& run) {
  if (has_failed(run)) return ",,,,";
  const bool is_share =
      run.run_type == Run::RT_Aggregate && run.aggregate_unit == benchmark::kPercentage;
  const bool has_time = !run.report_big_o && !is_share;
  const std::string iterations = run.report_big_o ? "" : std::to_string(run.iterations);
  const double real = is_share ? run.real_accumulated_time : run.GetAdjustedRealTime();
  const double cpu = is_share ? run.cpu_accumulated_time : run.GetAdjustedCPUTime();
  return fmt::format("{},{:.6g},{:.6g},{},", iterations, real, cpu,
                     has_time ? benchmark::GetTimeUnitString(run.time_unit) : "");
}

std::string line_of(const Run& run, const std::set<std::string>& counters) {
  std::string line = csv_quoted(run.benchmark_name()) + ',' + times_of(run) + ",,";
  line += run.report_label.empty() ? "" : csv_quoted(run.report_label);
  line += has_failed(run) ? ",true," + csv_quoted(error_message(run)) : ",,";
  for (const std::string& name : counters) {
    const auto found = run.counters.find(name);
    line += ',';
    if (found != run.counters.end()) line += fmt::format("{:.6g}", found->second.value);
  }
  return line;
}

}  // namespace

std::unique_ptr<benchmark::BenchmarkReporter> make_reporter(BenchmarkFlags::Format format,
                                                            const BenchmarkFlags& flags) {
  using Options = benchmark::ConsoleReporter::OutputOptions;
  switch (format) {
    case BenchmarkFlags::Format::kConsole:
      break;
    case BenchmarkFlags::Format::kJson:
      return std::make_unique<AsAsked<benchmark::JSONReporter>>(flags.unit);
    case BenchmarkFlags::Format::kCsv:
      return std::make_unique<AsAsked<CsvReporter>>(flags.unit);
  }
  const int color = flags.in_color ? Options::OO_Color : Options::OO_None;
  const int tabular = flags.tabular ? Options::OO_Tabular : Options::OO_None;
  return std::make_unique<ConsoleTable>(flags, static_cast<Options>(color | tabular));
}

std::unique_ptr<benchmark::BenchmarkReporter> make_file_reporter(BenchmarkFlags flags) {
  flags.in_color = false;
  flags.tabular = false;
  return flags.out.empty() ? nullptr : make_reporter(flags.out_format, flags);
}

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

void check_written(const BenchmarkFlags& flags) {
  std::error_code unknown;
  if (flags.out.empty() || !std::filesystem::is_regular_file(flags.out, unknown)) return;
  std::ifstream file(flags.out, std::ios::binary | std::ios::ate);
  char last = 0;
  if (file.tellg() > 0) file.seekg(-1, std::ios::end).get(last);
  if (last == '\n') return;  // every format ends with a line end
  fail(ErrorKind::kFailure, "--benchmark_out: writing {} failed; is the disk full?", flags.out);
}

void check_replaceable(const std::string& path, const std::string& flag) {
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) return;
  if (std::filesystem::is_regular_file(path, unknown)) return;
  fail(ErrorKind::kUsage,
       "{}: '{}' is no plain file, of which old text could be replaced by new: choose another",
       flag, path);
}

GoogleBenchmark::GoogleBenchmark(const std::string& program, BenchmarkFlags flags, int rank)
    : reports_(rank == 0), flags_(std::move(flags)), arguments_{program} {
  if (reports_ && !flags_.out.empty()) check_writable(flags_.out, "--benchmark_out");
  tell_library(program);
}

// Only the rank that reports is told of the file, so that one rank alone writes the file.
void GoogleBenchmark::tell_library(const std::string& program) {
  arguments_.insert(arguments_.end(), flags_.for_all.begin(), flags_.for_all.end());
  if (reports_) {
    arguments_.insert(arguments_.end(), flags_.for_report.begin(), flags_.for_report.end());
  }
  std::vector<char*> argv;
  for (std::string& argument : arguments_) argv.push_back(argument.data());
  int argc = static_cast<int>(argv.size());
  benchmark::Initialize(&argc, argv.data());
  if (argc <= 1) return;
  fail(ErrorKind::kUsage, "'{}' is not understood by the Google Benchmark of {}: check its value",
       argv[1], program);
}

GoogleBenchmark::~GoogleBenchmark() { benchmark::Shutdown(); }

void GoogleBenchmark::add_context(const std::string& key, const std::string& value) {
  benchmark::AddCustomContext(key, value);
}

void GoogleBenchmark::add(const std::string& name, int iterations, benchmark::TimeUnit unit,
                          std::function<void(benchmark::State&)> body) {
  if (!flags_.filter.selects(name)) return;
  names_.push_back(name);
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

bool GoogleBenchmark::leaves_out(const std::string& name) const {
  return flags_.lists || !flags_.filter.selects(name);
}

void GoogleBenchmark::list() const {
  if (!reports_) return;
  for (const std::string& name : names_) std::cout << name << '\n';
  std::cout << std::flush;
}

void GoogleBenchmark::run() {
  if (names_.empty()) fail_none_selected(flags_.filter);
  if (flags_.lists) return list();
  SilentReporter silent;
  std::unique_ptr<benchmark::BenchmarkReporter> display;
  std::unique_ptr<benchmark::BenchmarkReporter> file;
  if (reports_) {
    display = make_reporter(flags_.display, flags_);
    file = make_file_reporter(flags_);
  }
  benchmark::RunSpecifiedBenchmarks(display ? display.get() : &silent, file.get());
  if (failure_) throw Error(*failure_);
  if (reports_) check_written(flags_);
}

bool CsvReporter::ReportContext(const Context&) { return true; }

void CsvReporter::ReportRuns(const std::vector<Run>& runs) {
  runs_.insert(runs_.end(), runs.begin(), runs.end());
}

void CsvReporter::Finalize() {
  std::set<std::string> counters;
  for (const Run& run : runs_) {
    for (const auto& [name, counter] : run.counters) counters.insert(name);
  }
  std::ostream& out = GetOutputStream();
  out << "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,"
         "error_occurred,error_message";
  for (const std::string& name : counters) out << ',' << csv_quoted(name);
  out << '\n';
  for (const Run& run : runs_) out << line_of(run, counters) << '\n';
  out.flush();
}

}  // namespace tandem::bench
