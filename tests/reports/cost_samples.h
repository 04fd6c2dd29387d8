// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/reports/synthetic.h"

namespace tandem::reports {

using Means = std::map<std::string, double>;

// Phase means of a device, given in milliseconds.
inline results::DevicePhases device(int number, const Means& milliseconds) {
  results::DevicePhases phases{.device = number, .mean_seconds = {}, .span_seconds = 0};
  for (const auto& [name, ms] : milliseconds) {
    phases.mean_seconds[name] = ms * 1e-3;
    phases.span_seconds += ms * 1e-3;
  }
  return phases;
}

// Two devices over several samples of which each in turn is the critical one, by computing 2 ms
// longer, so that neither is late on average: phases of either, of the critical one of each sample
// and the least of each sample.
inline void take_turns(results::LaunchRecord& record) {
  const bool is_ddp = record.cell.strategy == "ddp";
  const Means mean = is_ddp
                         ? Means{{"forward", 5}, {"backward", 9}, {"exposed_comm", 3}, {"idle", 1}}
                         : Means{{"forward", 4}, {"backward", 7}, {"idle", 1}};
  record.phases = {device(0, mean), device(1, mean)};
  record.critical =
      is_ddp ? device(0, {{"forward", 5}, {"backward", 10}, {"exposed_comm", 2}, {"update", 1}})
             : device(0, {{"forward", 4}, {"backward", 8}, {"update", 1}});
  record.least_exposed_seconds = is_ddp ? 2e-3 : 0;
  record.least_compute_seconds = is_ddp ? 13e-3 : 10e-3;
}

// ddp in 20 ms and independent processes in 15 ms, several launches each, `scatter` seconds apart.
inline Synthetic ddp_and_independent(double scatter = 0) {
  Synthetic synthetic;
  synthetic.add("ddp", 2, {0.020 - scatter, 0.020, 0.020 + scatter});
  synthetic.add("independent", 2, {0.015 + scatter, 0.015, 0.015 - scatter});
  for (results::LaunchRecord& record : synthetic.document().launches) {
    record.cell.launch = "processes";
    take_turns(record);
  }
  return synthetic;
}

// Gradients of `bytes`, a bucket each; each bucket takes as many milliseconds on the rank that
// waits for nobody, and one more on the other.
inline void add_collectives(results::LaunchRecord& record, const std::vector<std::int64_t>& bytes,
                            const std::vector<double>& milliseconds) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const double least = milliseconds[i] * 1e-3;
    const bool first_waits = i % 2 == 0;
    record.collectives.push_back(
        {.bytes = bytes[i],
         .mean_seconds = {least + (first_waits ? 1e-3 : 0), least + (first_waits ? 0 : 1e-3)},
         .least_seconds = least});
  }
}

// The same, with buckets of 4, 4 and 2 MB in 2, 2 and 1 ms, of which 2 ms are exposed.
inline Synthetic with_collectives() {
  Synthetic synthetic = ddp_and_independent();
  for (results::LaunchRecord& record : synthetic.document().launches) {
    if (record.cell.strategy == "ddp") {
      add_collectives(record, {4'000'000, 4'000'000, 2'000'000}, {2, 2, 1});
    }
  }
  return synthetic;
}

}  // namespace tandem::reports
