// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <optional>
#include <span>

namespace tandem::bench {

// The summary of the times of one entry's samples, in seconds.
struct TimeSummary {
  double p50 = 0;
  double p95 = 0;
  std::optional<double> p99{};  // of 1000 samples or more: else p99 is near the largest
};

// Percentiles by nearest rank. Throws a logic error where there is no sample.
[[nodiscard]] TimeSummary summarise(std::span<const double> seconds);

// Sets the counters p50_us, p95_us and, where there is one, p99_us.
void set_percentiles(benchmark::State& state, const TimeSummary& summary);

}  // namespace tandem::bench
