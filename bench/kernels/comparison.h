// SPDX-License-Identifier: Apache-2.0
//
// The timing of operations: each operation next to its yardstick where there is one, in turn on one
// stream, so that the machine's changes of speed meet both alike.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>

#include "bench/kernels/device_bench.h"
#include "bench/kernels/measured_peaks.h"

namespace tandem::bench {

// Work is in units of 10^9: flops, bytes or elements.
struct Comparison {
  std::function<void()> operation;
  std::function<void()> yardstick{};   // empty: this back end has no yardstick
  std::function<void()> afterwards{};  // runs after the operation, not timed
  double operation_work = 0;
  double yardstick_work = 0;
  const char* unit = "";           // the counter's name
  MeasuredPeaks* peaks = nullptr;  // the rate is held against these; null: against none
};

// Sets counters: the rate in `unit`; with peaks also `of_peak`, the rate over the machine's peak in
// that unit; with a yardstick also the yardstick's rate, `bare_` before the unit, and `share`, the
// yardstick's time over the operation's.
void compare(benchmark::State& state, DeviceBench& bench, const Comparison& comparison);

// Times plain code on the calling thread, once per iteration; reports its rate in `unit`, and over
// the peak.
void time_plain(benchmark::State& state, const std::function<void()>& code, double work,
                const char* unit, MeasuredPeaks& peaks);

// Calls that are timed together, as in a step, so that a wake-up of the worker is not counted to
// each call.
inline constexpr int kCalls = 8;

template <class Function>
void repeat(const Function& call) {
  for (int i = 0; i < kCalls; ++i) call();
}

}  // namespace tandem::bench
