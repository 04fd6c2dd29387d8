// SPDX-License-Identifier: Apache-2.0
//
// Google Benchmark's flags, as programs of several ranks take them. Names are matched and listed
// here and not by the library: the library appends how a benchmark is run
// ("/iterations:45/manual_time"), which no output of these programs shows, and all ranks must come
// to the same benchmarks.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tandem::bench {

// --benchmark_filter: an extended regular expression that is searched anywhere in a name; behind a
// leading '-', an expression that the name must not contain. Empty and "all" leave every name.
class NameFilter {
 public:
  NameFilter() = default;
  explicit NameFilter(const std::string& text);  // throws a usage error that names the flag

  [[nodiscard]] bool selects(const std::string& name) const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  bool is_negative_ = false;
  std::function<bool(const std::string& name)> finds_{};  // absent for an empty text
};

struct BenchmarkFlags {
  enum class Format { kConsole, kJson };

  NameFilter filter{};
  bool lists = false;   // names only: nothing is measured
  int repetitions = 1;  // of each benchmark, one after the other
  Format display = Format::kConsole;
  std::string out{};  // file; empty: no file
  Format out_format = Format::kJson;
  std::optional<benchmark::TimeUnit> unit{};  // instead of the benchmark's own
  bool in_color = false;
  bool tabular = false;                   // counters in columns
  bool says_context = true;               // above a table; all other formats hold the context
  std::vector<std::string> for_all{};     // flags for the library itself, on every rank
  std::vector<std::string> for_report{};  // flags for the library on the rank that reports
};

// Reads `flags` ("--benchmark_...") for a job of `ranks` processes or threads that wait for one
// another. Throws a usage error for a flag that the library does not have, or that would mislead.
[[nodiscard]] BenchmarkFlags read_benchmark_flags(const std::string& program,
                                                  const std::vector<std::string>& flags, int ranks);

// Throws the usage error of a filter that leaves no benchmark.
[[noreturn]] void fail_none_selected(const NameFilter& filter);

// Throws a usage error that gives `why` the program has no repetitions, where repetitions are asked
// for.
void refuse_repetitions(const BenchmarkFlags& flags, const std::string& why);

// Takes "NAME=SECONDS" out of `flags`, if present, and gives the value with the unit, "0.5s", also
// where the value was written with the unit, as newer versions of the library want it. Throws a
// usage error for a number of iterations ("10x"), which the flag `instead` is for.
[[nodiscard]] std::optional<std::string> take_duration(std::vector<std::string>& flags,
                                                       const std::string& name,
                                                       const std::string& instead);

}  // namespace tandem::bench
