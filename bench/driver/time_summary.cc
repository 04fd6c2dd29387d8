// SPDX-License-Identifier: Apache-2.0
#include "bench/driver/time_summary.h"

#include "common/stats/summary.h"

namespace tandem::bench {

TimeSummary summarise(std::span<const double> seconds) {
  return {.p50 = stats::percentile(seconds, 50),
          .p95 = stats::percentile(seconds, 95),
          .p99 = stats::percentile_99(seconds)};
}

void set_percentiles(benchmark::State& state, const TimeSummary& summary) {
  state.counters["p50_us"] = summary.p50 * 1e6;
  state.counters["p95_us"] = summary.p95 * 1e6;
  if (summary.p99) state.counters["p99_us"] = *summary.p99 * 1e6;
}

}  // namespace tandem::bench
