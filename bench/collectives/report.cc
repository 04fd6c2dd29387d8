// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/report.h"

#include "bench/driver/time_summary.h"
#include "common/stats/comparison.h"
#include "common/stats/summary.h"

namespace tandem::bench {
namespace {

void set_bandwidths(benchmark::State& state, const CollectiveCase& measured,
                    const CollectiveResult& result) {
  const int ranks = static_cast<int>(result.rank_seconds.size());
  const auto found = bandwidth(measured, ranks, stats::median(result.seconds));
  if (!found) return;
  state.counters["algbw_GBps"] = found->algorithm;
  state.counters["busbw_GBps"] = found->bus;
  state.counters["memcpy_GBps"] =
      static_cast<double>(measured.size().value) / stats::median(result.copy_seconds) * 1e-9;
  // The speed of the collective over that of a memcpy of as many bytes.
  state.counters["speed_to_memcpy"] =
      stats::median_of_paired_ratios(result.seconds, result.copy_seconds).center;
}

void set_rank_times(benchmark::State& state, const CollectiveResult& result) {
  state.counters["rank_min_us"] = stats::minimum(result.rank_seconds) * 1e6;
  state.counters["rank_avg_us"] = stats::mean(result.rank_seconds) * 1e6;
  state.counters["rank_max_us"] = stats::maximum(result.rank_seconds) * 1e6;
}

// Whether the cores' distance decides the result, so that the distance belongs beside the figure.
bool depends_on_distance(const CollectiveCase& measured) {
  return measured.size() >= mib(1) && measured.size() <= mib(4);
}

}  // namespace

std::optional<Bandwidth> bandwidth(const CollectiveCase& measured, int ranks, double seconds) {
  if (ranks < 2) return std::nullopt;
  const double algorithm = static_cast<double>(measured.size().value) / seconds * 1e-9;
  return Bandwidth{.algorithm = algorithm,
                   .bus = algorithm * bus_factor(measured.collective, ranks)};
}

void report(benchmark::State& state, const CollectiveCase& measured, const CollectiveResult& result,
            double ping_pong_ns) {
  if (!result.skipped.empty()) {
    state.SkipWithError(("skipped: " + result.skipped).c_str());
    return;
  }
  std::size_t sample = 0;
  for ([[maybe_unused]] auto iteration : state) state.SetIterationTime(result.seconds[sample++]);
  set_percentiles(state, summarise(result.seconds));
  set_rank_times(state, result);
  set_bandwidths(state, measured, result);
  state.counters["errors"] = static_cast<double>(result.wrong_elements);
  if (measured.buckets > 0) state.counters["buckets"] = measured.buckets;
  if (ping_pong_ns > 0 && depends_on_distance(measured)) {
    state.counters["ping_pong_ns"] = ping_pong_ns;
  }
}

}  // namespace tandem::bench
