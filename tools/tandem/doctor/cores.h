// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/tandem/doctor/finding.h"

namespace tandem::doctor {

// The folders below `root` that limit this process's use of the resource of `controller` ("cpu",
// "memory"): the folders of the process's control group and of all its parents, in version 1 and in
// version 2. The limits of all folders apply at once.
[[nodiscard]] std::vector<std::filesystem::path> control_groups(const std::filesystem::path& root,
                                                                const std::string& controller);

// The number in a file; nothing where the file is absent or holds no number ("max").
[[nodiscard]] std::optional<double> number_in(const std::filesystem::path& file);

// The number behind `key` in a file of lines "key number" or "key: number kB".
[[nodiscard]] std::optional<double> number_of(const std::filesystem::path& file,
                                              const std::string& key);

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

// The hardware threads that this process may use.
[[nodiscard]] std::vector<int> allowed_threads();

[[nodiscard]] Findings judge_cores(const CoreFacts& facts);

struct FrequencyFacts {
  std::map<std::string, int> governors;  // hardware threads by governor; empty: not told
};

// Reads the governors of the hardware threads `allowed`, below `root`.
[[nodiscard]] FrequencyFacts gather_frequency(const std::filesystem::path& root,
                                              const std::vector<int>& allowed);

[[nodiscard]] Findings judge_frequency(const FrequencyFacts& facts);

}  // namespace tandem::doctor
