// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "tools/tandem/doctor/finding.h"

namespace tandem::doctor {

// All fields are in bytes. A field is absent where the system tells no value or no limit.
struct MemoryFacts {
  std::optional<double> total{};
  std::optional<double> available{};  // left by the system
  std::optional<double> limit{};      // limit of the tightest control group
  std::optional<double> used{};       // memory used in that group
  std::optional<double> swapped{};    // swapped out
};

[[nodiscard]] MemoryFacts gather_memory(const std::filesystem::path& root);

// Less than 2 GiB left is a warning: two devices of mlp-base with their parameters, gradients,
// momenta and buckets take half of 2 GiB. Less than 512 MiB is a problem: not even mlp-small's
// sweep is safe.
[[nodiscard]] Findings judge_memory(const MemoryFacts& facts);

}  // namespace tandem::doctor
