// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/collectives/measurement.h"
#include "bench/collectives/options.h"
#include "bench/google_benchmark.h"

namespace tandem::bench {

// All cases of a job, as one rank runs them: all ranks the same ones in the same order. One rank
// reports, through Google Benchmark; the others follow it without.
class CollectiveSweep {
 public:
  // Collective; all outlive this. `cores` are those of the job's devices.
  CollectiveSweep(const Rank& rank, const CollectiveOptions& options,
                  const std::vector<int>& cores);

  // Runs all cases and reports them to `driver`, absent on ranks that do not report. Ends at the
  // first case that left a wrong element on any rank, and returns what is wrong: the same on all
  // ranks; empty where nothing is.
  [[nodiscard]] std::string run(GoogleBenchmark* driver);

 private:
  [[nodiscard]] CollectiveResult measure(const CollectiveCase& measured);
  void follow();
  void add_ping_pong(GoogleBenchmark& driver);
  [[nodiscard]] std::string full_name(const CollectiveCase& measured) const;
  void run_reporting(GoogleBenchmark& driver);

  const Rank& rank_;
  const CollectiveOptions& options_;
  const bool has_ping_pong_;
  // Of each repetition, ns one way between the first two cores; empty: only one core.
  std::vector<std::vector<double>> ping_pongs_;
  std::vector<CollectiveCase> cases_;
  std::string wrong_;  // the first wrong element; empty: none yet
};

}  // namespace tandem::bench
