// SPDX-License-Identifier: Apache-2.0
//
// Who else uses the cores. A thread on each of them does nothing but read the clock: where two
// readings lie more than 10 us apart, the core did something else.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

#include "tools/tandem/doctor/finding.h"

namespace tandem::doctor {

struct CoreNoise {
  int cpu = 0;         // OS number
  double lost = 0;     // share of the time that lay in gaps over 10 us
  double longest = 0;  // gap, in seconds
};

// Times of all hardware threads since the system's start, in its ticks.
struct ProcessorTimes {
  double total = 0;
  double stolen = 0;  // by other virtual machines
};

struct NeighbourFacts {
  std::vector<CoreNoise> cores{};  // empty: not measured
  double seconds = 0;              // that each was watched for
  std::optional<double> stolen{};  // share of that time, on virtual machines
};

// Watches one hardware thread of each core of `cpus` at once, for `time`. The share of stolen time
// is of the same moment.
[[nodiscard]] NeighbourFacts watch_neighbours(const std::vector<int>& cpus,
                                              std::chrono::milliseconds time);

// One of each core of those given, after the system below `root`.
[[nodiscard]] std::vector<int> one_thread_per_core(const std::filesystem::path& root,
                                                   const std::vector<int>& allowed);

// The first line of `stat`, /proc/stat; absent where it cannot be read.
[[nodiscard]] std::optional<ProcessorTimes> processor_times(const std::filesystem::path& stat);

// Of the noisiest core: from 1 % of the time lost a warning (what a step's figures are judged by is
// 1 to 2 %), from 10 % a problem (another program computes there). A gap of 5 ms or more is a
// warning alone: it decides a short step's p95. Stolen time: from 1 % a warning, from 5 % a
// problem.
[[nodiscard]] Findings judge_neighbours(const NeighbourFacts& facts);

}  // namespace tandem::doctor
