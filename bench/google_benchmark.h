// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/benchmark_flags.h"
#include "common/base/error.h"

namespace tandem::bench {

// Google Benchmark for a job of ranks: every rank runs the same iterations, rank 0 alone reports.
class GoogleBenchmark {
 public:
  // Throws a usage error where the library does not understand what it is told, or where its file
  // cannot be written.
  GoogleBenchmark(const std::string& program, BenchmarkFlags flags, int rank);
  ~GoogleBenchmark();
  GoogleBenchmark(const GoogleBenchmark&) = delete;
  GoogleBenchmark& operator=(const GoogleBenchmark&) = delete;

  // Key and value for the context of its output.
  static void add_context(const std::string& key, const std::string& value);

  // Registers a benchmark of `iterations`, its time given by `body` through SetIterationTime; not
  // where the filter leaves it out. What `body` refers to must live until run() returns.
  void add(const std::string& name, int iterations, benchmark::TimeUnit unit,
           std::function<void(benchmark::State&)> body);

  // True where the benchmark of that name will not be measured, so that there is nothing to
  // prepare: left out by the filter, or names are only listed.
  [[nodiscard]] bool leaves_out(const std::string& name) const;

  // Runs all that were added and selected, in order, and reports, or lists their names. A body that
  // throws marks its benchmark as failed; the others are not run, and its exception is thrown from
  // here. Throws a usage error where the filter left none. Once.
  void run();

 private:
  void tell_library(const std::string& program);
  void list() const;

  const bool reports_;
  const BenchmarkFlags flags_;
  std::vector<std::string> arguments_;  // Google Benchmark keeps pointers into them
  std::vector<std::string> names_;      // of what was added and selected
  std::optional<Error> failure_;
};

// Of a format, with the library's context but for its own build type, and names as add() took them.
[[nodiscard]] std::unique_ptr<benchmark::BenchmarkReporter> make_reporter(
    BenchmarkFlags::Format format, const BenchmarkFlags& flags);

// For --benchmark_out; null without it.
[[nodiscard]] std::unique_ptr<benchmark::BenchmarkReporter> make_file_reporter(
    BenchmarkFlags flags);

// To be called when all has run: the library does not look. A failure where the file is cut off.
void check_written(const BenchmarkFlags& flags);

// Throws a usage error where `path` is something that a new file is not to take the place of.
void check_replaceable(const std::string& path, const std::string& flag);

// Throws a usage error that names `flag` where `path` cannot be written. Leaves no new file behind.
void check_writable(const std::string& path, const std::string& flag);

}  // namespace tandem::bench
