// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>
#include <vector>

namespace tandem::bench {

// Google Benchmark for a job of ranks: every rank runs the same iterations, rank 0 alone reports.
class GoogleBenchmark {
 public:
  // `flags` are --benchmark_... of the command line. Throws a usage error for those that it does
  // not know, and for those under which ranks would run different things.
  GoogleBenchmark(const std::vector<std::string>& flags, int rank, int ranks);
  ~GoogleBenchmark();
  GoogleBenchmark(const GoogleBenchmark&) = delete;
  GoogleBenchmark& operator=(const GoogleBenchmark&) = delete;

  // Key and value for the context of its output.
  static void add_context(const std::string& key, const std::string& value);

  // Runs one benchmark for `iterations`, its time given by `body` through SetIterationTime. `body`
  // may throw: the run is then marked as an error and the exception thrown from here.
  void run(const std::string& name, int iterations,
           const std::function<void(benchmark::State&)>& body);

 private:
  const bool reports_;
  std::vector<std::string> arguments_;  // Google Benchmark keeps pointers into them
};

// Throws a usage error that names `flag` where `path` cannot be written.
void check_writable(const std::string& path, const std::string& flag);

}  // namespace tandem::bench
