// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/driver/benchmark_flags.h"
#include "common/base/error.h"

namespace tandem::bench {

// Google Benchmark for a job of ranks: every rank runs the same iterations, rank 0 alone reports.
class GoogleBenchmark {
 public:
  // Throws a usage error where the library does not understand a flag, or where the file of
  // --benchmark_out cannot be written.
  GoogleBenchmark(const std::string& program, BenchmarkFlags flags, int rank);
  ~GoogleBenchmark();
  GoogleBenchmark(const GoogleBenchmark&) = delete;
  GoogleBenchmark& operator=(const GoogleBenchmark&) = delete;

  // Adds a key and a value to the context of the library's output.
  static void add_context(const std::string& key, const std::string& value);

  // Registers a benchmark of `iterations`, whose time `body` gives through SetIterationTime; does
  // nothing where the filter leaves the benchmark out. Objects that `body` refers to must live
  // until run() returns.
  void add(const std::string& name, int iterations, benchmark::TimeUnit unit,
           std::function<void(benchmark::State&)> body);

  // True where the benchmark of that name will not be measured, so that there is nothing to
  // prepare: the filter leaves the benchmark out, or names are only listed.
  [[nodiscard]] bool leaves_out(const std::string& name) const;

  // Runs all benchmarks that were added and selected, in order, and reports, or lists their names.
  // A body that throws marks its benchmark as failed; the other benchmarks are not run, and run()
  // throws the body's exception. Throws a usage error where the filter left no benchmark. To be
  // called once.
  void run();

 private:
  void tell_library(const std::string& program);
  void list() const;

  const bool reports_;
  const BenchmarkFlags flags_;
  std::vector<std::string> arguments_;  // Google Benchmark keeps pointers into the arguments
  std::vector<std::string> names_;      // names of the benchmarks that were added and selected
  std::optional<Error> failure_;
};

// Throws a usage error where a new file must not replace the file at `path`.
void check_replaceable(const std::string& path, const std::string& flag);

// Throws a usage error that names `flag` where `path` cannot be written. Leaves no new file behind.
void check_writable(const std::string& path, const std::string& flag);

}  // namespace tandem::bench
