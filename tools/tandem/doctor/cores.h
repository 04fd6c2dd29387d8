// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/tandem/doctor/finding.h"

namespace tandem::doctor {

struct CoreFacts {
  std::string model{};
  int online = 0;                 // hardware threads of the machine; 0: not told
  std::vector<int> allowed{};     // OS numbers of the threads that this process may use
  int cores = 0;                  // physical cores of the allowed threads
  std::optional<double> quota{};  // cores' worth of time granted by the control group
  double throttled = 0;           // periods with the quota used up, since the group began
};

// `allowed` is the affinity of a process; all other facts are read below `root`.
[[nodiscard]] CoreFacts gather_cores(const std::filesystem::path& root, std::vector<int> allowed);

[[nodiscard]] Findings judge_cores(const CoreFacts& facts);

struct FrequencyFacts {
  std::map<std::string, int> governors;  // hardware threads by governor; empty: not told
};

// Reads the governors of the hardware threads `allowed`, below `root`.
[[nodiscard]] FrequencyFacts gather_frequency(const std::filesystem::path& root,
                                              const std::vector<int>& allowed);

[[nodiscard]] Findings judge_frequency(const FrequencyFacts& facts);

}  // namespace tandem::doctor
