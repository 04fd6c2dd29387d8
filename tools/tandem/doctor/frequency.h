// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tools/tandem/doctor/finding.h"

namespace tandem::doctor {

struct FrequencyFacts {
  std::map<std::string, int> governors;  // hardware threads by governor; empty: not told
};

// Reads the governors of the hardware threads `allowed`, below `root`.
[[nodiscard]] FrequencyFacts gather_frequency(const std::filesystem::path& root,
                                              const std::vector<int>& allowed);

[[nodiscard]] Findings judge_frequency(const FrequencyFacts& facts);

}  // namespace tandem::doctor
