// SPDX-License-Identifier: Apache-2.0
#include "common/stats/change.h"

#include <array>
#include <cstddef>

#include "common/base/error.h"

namespace tandem::stats {

std::string_view to_string(Change change) {
  constexpr std::array<std::string_view, 4> kNames{"FASTER", "SLOWER", "SAME", "UNSURE"};
  return kNames.at(static_cast<std::size_t>(change));
}

double confidence_of_each(std::size_t comparisons) {
  TANDEM_CHECK(comparisons > 0, "nothing is compared");
  return 1 - (1 - kConfidence) / static_cast<double>(comparisons);
}

Change judge_change(const Estimate& time_ratio, double threshold) {
  TANDEM_CHECK(threshold >= 0, "threshold {}", threshold);
  if (!time_ratio.interval) return Change::kUnsure;
  const auto [low, high] = *time_ratio.interval;
  if (low >= 1 / (1 + threshold) && high <= 1 + threshold) return Change::kSame;
  if (low > 1) return Change::kSlower;
  if (high < 1) return Change::kFaster;
  return Change::kUnsure;
}

bool is_beyond(const Estimate& time_ratio, double threshold) {
  if (!time_ratio.interval) return false;
  return time_ratio.interval->low > 1 + threshold ||
         time_ratio.interval->high < 1 / (1 + threshold);
}

}  // namespace tandem::stats
