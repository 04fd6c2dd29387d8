// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"

namespace tandem::bench {

// Google Benchmark for a job of ranks: every rank runs the same iterations, rank 0 alone reports.
class GoogleBenchmark {
 public:
  // `flags` are --benchmark_... of the command line: of them only those that say where the output
  // goes, and not those that would change what is run or what a sample is. Throws usage errors.
  GoogleBenchmark(const std::string& program, const std::vector<std::string>& flags, int rank);
  ~GoogleBenchmark();
  GoogleBenchmark(const GoogleBenchmark&) = delete;
  GoogleBenchmark& operator=(const GoogleBenchmark&) = delete;

  // Key and value for the context of its output.
  static void add_context(const std::string& key, const std::string& value);

  // Registers a benchmark of `iterations`, its time given by `body` through SetIterationTime. What
  // `body` refers to must live until run() returns.
  void add(const std::string& name, int iterations, benchmark::TimeUnit unit,
           std::function<void(benchmark::State&)> body);

  // Runs all that were added, in order, and reports. A body that throws marks its benchmark as
  // failed; the others are not run, and its exception is thrown from here. Once.
  void run();

 private:
  const bool reports_;
  bool writes_file_ = false;            // --benchmark_out
  bool prints_json_ = false;            // --benchmark_format=json
  std::vector<std::string> arguments_;  // Google Benchmark keeps pointers into them
  std::optional<Error> failure_;
};

// Throws a usage error that names `flag` where `path` cannot be written.
void check_writable(const std::string& path, const std::string& flag);

}  // namespace tandem::bench
