// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/tandem/doctor/finding.h"

namespace tandem::doctor {

struct CoreFacts {
  std::string model{};
  int online = 0;                 // hardware threads of the machine; 0: not told
  std::vector<int> allowed{};     // OS numbers of those that this process may use
  int cores = 0;                  // physical, of the allowed ones
  std::optional<double> quota{};  // cores' worth of time that the control group grants
  double throttled = 0;           // periods in which that was used up, since the group was made
};

// `allowed` is the affinity of a process; the rest lies below `root`.
[[nodiscard]] CoreFacts gather_cores(const std::filesystem::path& root, std::vector<int> allowed);

// Of this process.
[[nodiscard]] std::vector<int> allowed_threads();

[[nodiscard]] Findings judge_cores(const CoreFacts& facts);

}  // namespace tandem::doctor
