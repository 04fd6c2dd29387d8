// SPDX-License-Identifier: Apache-2.0
//
// The cores that a process may use, and other programs' use of them. To see the latter, a thread on
// each core does nothing but read the clock: where two readings lie more than 10 us apart, the core
// did other work.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/tandem/doctor/finding.h"

namespace tandem::doctor {

struct CoreFacts {
  std::string model{};
  int online = 0;                 // hardware threads of the machine; 0: not known
  std::vector<int> allowed{};     // OS numbers of the threads that this process may use
  int cores = 0;                  // physical cores of the allowed threads
  std::optional<double> quota{};  // cores' worth of time granted by the control group
  double throttled = 0;           // periods with the quota used up, since the group began
};

// `allowed` is the affinity of a process; all other facts are read below `root`.
[[nodiscard]] CoreFacts gather_cores(const std::filesystem::path& root, std::vector<int> allowed);

[[nodiscard]] Findings judge_cores(const CoreFacts& facts);

struct FrequencyFacts {
  std::map<std::string, int> governors;  // hardware threads by governor; empty: not known
};

// Reads the governors of the hardware threads `allowed`, below `root`.
[[nodiscard]] FrequencyFacts gather_frequency(const std::filesystem::path& root,
                                              const std::vector<int>& allowed);

[[nodiscard]] Findings judge_frequency(const FrequencyFacts& facts);

struct CoreNoise {
  int cpu = 0;         // OS number
  double lost = 0;     // share of the time that lay in gaps over 10 us
  double longest = 0;  // longest gap, seconds
};

struct NeighbourFacts {
  std::vector<CoreNoise> cores{};  // empty: not measured
  double seconds = 0;              // duration of the watch
  std::optional<double> stolen{};  // stolen share of that duration, on virtual machines
};

// Watches one hardware thread of each core of `cpus` at once, for `time`. The share of stolen time
// covers the same period.
[[nodiscard]] NeighbourFacts watch_neighbours(const std::vector<int>& cpus,
                                              std::chrono::milliseconds time);

// One hardware thread of each core of `allowed`; the system's files below `root` name the cores.
[[nodiscard]] std::vector<int> one_thread_per_core(const std::filesystem::path& root,
                                                   const std::vector<int>& allowed);

// Judges the noisiest core: 1 % of its time lost is a warning (steps are compared to within 1 to 2
// %), 10 % a problem (another program computes there). A gap of 5 ms or more is a warning, since
// one such gap decides a short step's p95. Stolen time of 1 % is a warning, of 5 % a problem.
[[nodiscard]] Findings judge_neighbours(const NeighbourFacts& facts);

}  // namespace tandem::doctor
