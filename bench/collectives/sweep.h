// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/collectives/measurement.h"
#include "bench/collectives/options.h"
#include "bench/driver/google_benchmark.h"
#include "ddp/bucket_plan.h"

namespace tandem::bench {

// All cases of a job, as one rank runs them: all ranks run the same cases in the same order. One
// rank reports through Google Benchmark; the other ranks follow the reporting rank without the
// library.
class CollectiveSweep {
 public:
  // Collective; all arguments outlive the sweep.
  CollectiveSweep(const Rank& rank, const CollectiveOptions& options);

  // Runs all cases and reports the results to `driver`, absent on ranks that do not report. Ends at
  // the first case that left a wrong element on any rank, and returns the error in words, the same
  // on all ranks; empty where every element is right.
  [[nodiscard]] std::string run(GoogleBenchmark* driver);

 private:
  [[nodiscard]] CollectiveResult measure(const CollectiveCase& measured);
  void follow();
  [[nodiscard]] std::string full_name(const CollectiveCase& measured) const;
  void run_reporting(GoogleBenchmark& driver);

  const Rank& rank_;
  const CollectiveOptions options_;
  std::vector<CollectiveCase> cases_;
  std::string wrong_;  // the first wrong element in words; empty: none yet
};

// Elements of each bucket that ddp reduces for the model `name` once the buckets are rebuilt, in
// launch order: buckets are planned in the order in which a backward of one sample makes the
// gradients, gaps included. Rank 0 runs that backward. Collective; returns the same counts on every
// rank. Throws a usage error for an unknown model and out-of-memory where the model does not fit.
[[nodiscard]] std::vector<std::int64_t> model_buckets(const Rank& rank, const std::string& name,
                                                      const ddp::BucketLimits& limits);

}  // namespace tandem::bench
