// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <boost/noncopyable.hpp>
#include <functional>
#include <optional>
#include <string>

#include "common/base/error.h"

namespace tandem::bench {

// The flags of Google Benchmark that its programs here have. What is measured, and how often, is
// said by options of their own.
struct BenchmarkFlags {
  std::string format = "console";  // of standard output: console or json
  std::string out{};               // the file that gets the JSON as well; empty: none
  bool says_context = true;        // above a table; JSON always holds the context
};

// Google Benchmark for a job of ranks: every rank runs the same iterations, rank 0 alone reports.
class GoogleBenchmark : boost::noncopyable {
 public:
  // Throws a usage error where the file of --benchmark_out cannot be written.
  GoogleBenchmark(const std::string& program, BenchmarkFlags flags, int rank);
  ~GoogleBenchmark();

  // Adds a key and a value to the context of the library's output.
  static void add_context(const std::string& key, const std::string& value);

  // Registers a benchmark of `iterations`, whose time `body` gives through SetIterationTime.
  // Objects that `body` refers to must live until run() returns.
  void add(const std::string& name, int iterations, benchmark::TimeUnit unit,
           std::function<void(benchmark::State&)> body);

  // Runs all benchmarks that were added, in order, and reports. A body that throws marks its
  // benchmark as failed; the other benchmarks are not run, and run() throws the body's exception.
  // To be called once.
  void run();

 private:
  const bool reports_;
  const BenchmarkFlags flags_;
  std::string program_;  // Google Benchmark keeps pointers into both
  std::string out_flag_;
  std::optional<Error> failure_;
};

// Throws a usage error where a new file must not replace the file at `path`.
void check_replaceable(const std::string& path, const std::string& flag);

// Throws a usage error that names `flag` where `path` cannot be written. Leaves no new file behind.
void check_writable(const std::string& path, const std::string& flag);

}  // namespace tandem::bench
