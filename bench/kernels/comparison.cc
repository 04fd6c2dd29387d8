// SPDX-License-Identifier: Apache-2.0
#include "bench/kernels/comparison.h"

#include <string>

#include "common/base/clock.h"

namespace tandem::bench {
namespace {

void set_rate(benchmark::State& state, double rate, const char* unit, MeasuredPeaks* peaks) {
  state.counters[unit] = rate;
  const double peak = peaks != nullptr ? peaks->of(unit) : 0;
  if (peak > 0) state.counters["of_peak"] = rate / peak;
}

}  // namespace

void compare(benchmark::State& state, DeviceBench& bench, const Comparison& comparison) {
  const bool has_yardstick = comparison.yardstick != nullptr;
  static_cast<void>(bench.timed(comparison.operation));  // creates primitives, takes page faults
  if (has_yardstick) static_cast<void>(bench.timed(comparison.yardstick));
  double operation_time = 0;
  double yardstick_time = 0;
  double rounds = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const double took = bench.timed(comparison.operation);
    if (comparison.afterwards) comparison.afterwards();
    state.SetIterationTime(took);
    operation_time += took;
    if (has_yardstick) yardstick_time += bench.timed(comparison.yardstick);
    ++rounds;
  }
  if (operation_time <= 0) return;  // counters must be finite numbers
  const double rate = rounds * comparison.operation_work / operation_time;
  set_rate(state, rate, comparison.unit, comparison.peaks);
  if (yardstick_time <= 0) return;
  const double yardstick_rate = rounds * comparison.yardstick_work / yardstick_time;
  state.counters[std::string("bare_") + comparison.unit] = yardstick_rate;
  state.counters["share"] = rate / yardstick_rate;
}

void time_plain(benchmark::State& state, const std::function<void()>& code, double work,
                const char* unit, MeasuredPeaks& peaks) {
  double seconds = 0;
  for ([[maybe_unused]] auto iteration : state) {
    const TimePoint start = Clock::now();
    code();
    const double took = Seconds(Clock::now() - start).count();
    state.SetIterationTime(took);
    seconds += took;
  }
  if (seconds <= 0) return;
  set_rate(state, work * static_cast<double>(state.iterations()) / seconds, unit, &peaks);
}

}  // namespace tandem::bench
