// SPDX-License-Identifier: Apache-2.0
#include "bench/time_summary.h"

#include "common/stats/summary.h"

namespace tandem::bench {
namespace {

constexpr std::size_t kSamplesOfP99 = 1000;

}  // namespace

TimeSummary summarise(std::span<const double> seconds) {
  TimeSummary summary{.p50 = stats::percentile(seconds, 50), .p95 = stats::percentile(seconds, 95)};
  if (seconds.size() >= kSamplesOfP99) summary.p99 = stats::percentile(seconds, 99);
  return summary;
}

void set_percentiles(benchmark::State& state, const TimeSummary& summary) {
  state.counters["p50_us"] = summary.p50 * 1e6;
  state.counters["p95_us"] = summary.p95 * 1e6;
  if (summary.p99) state.counters["p99_us"] = *summary.p99 * 1e6;
}

}  // namespace tandem::bench
