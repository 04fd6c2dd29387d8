// SPDX-License-Identifier: Apache-2.0
#include "bench/driver/csv_reporter.h"

#include <fmt/format.h>

#include <set>
#include <string>

namespace tandem::bench {
namespace {

using Run = benchmark::BenchmarkReporter::Run;

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

// The text within quotes, its own quotes doubled (RFC 4180).
std::string quoted(const std::string& text) {
  std::string escaped;
  for (const char character : text) {
    if (character == '"') escaped += '"';
    escaped += character;
  }
  return '"' + escaped + '"';
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
  std::string line = quoted(run.benchmark_name()) + ',' + times_of(run) + ",,";
  line += run.report_label.empty() ? "" : quoted(run.report_label);
  line += has_failed(run) ? ",true," + quoted(error_message(run)) : ",,";
  for (const std::string& name : counters) {
    const auto found = run.counters.find(name);
    line += ',';
    if (found != run.counters.end()) line += fmt::format("{:.6g}", found->second.value);
  }
  return line;
}

}  // namespace

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
  for (const std::string& name : counters) out << ',' << quoted(name);
  out << '\n';
  for (const Run& run : runs_) out << line_of(run, counters) << '\n';
  out.flush();
}

}  // namespace tandem::bench
