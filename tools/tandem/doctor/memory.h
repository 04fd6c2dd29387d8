// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "tools/tandem/doctor/finding.h"

namespace tandem::doctor {

// In bytes. Absent: not told, or no limit.
struct MemoryFacts {
  std::optional<double> total{};
  std::optional<double> available{};  // that the system has left
  std::optional<double> limit{};      // of the tightest control group
  std::optional<double> used{};       // of that
  std::optional<double> swapped{};    // out
};

[[nodiscard]] MemoryFacts gather_memory(const std::filesystem::path& root);

// Below 2 GiB left is a warning: two devices of mlp-base with their parameters, gradients, momenta
// and buckets take half of that. Below 512 MiB is a problem: not even mlp-small's sweep is safe.
[[nodiscard]] Findings judge_memory(const MemoryFacts& facts);

}  // namespace tandem::doctor
