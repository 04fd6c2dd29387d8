// SPDX-License-Identifier: Apache-2.0
#include "common/stats/modes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "common/base/error.h"
#include "common/stats/logs.h"
#include "common/stats/summary.h"

namespace tandem::stats {

std::optional<Split> best_split(std::span<const double> values, int least) {
  TANDEM_CHECK(least >= 1, "parts of {} values", least);
  const auto n = static_cast<int>(values.size());
  if (n < 2 * least) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double center = mean(sorted);
  double total = 0;  // sum of squares around the mean of all values
  double all = 0;
  for (double& value : sorted) {
    value -= center;
    total += value * value;
    all += value;
  }
  Split best{.low = center, .high = center, .low_count = n, .high_count = 0};
  if (total == 0) return best;
  double below = 0;
  for (int k = 1; k <= n - least; ++k) {
    below += sorted[static_cast<std::size_t>(k - 1)];
    if (k < least) continue;
    const double above = all - below;
    const double share = (below * below / k + above * above / (n - k)) / total;
    if (share <= best.share) continue;
    best = {.share = share,
            .low = center + below / k,
            .high = center + above / (n - k),
            .low_count = k,
            .high_count = n - k};
  }
  return best;
}

std::optional<Split> find_modes(std::span<const double> times, double least_apart) {
  const auto n = static_cast<double>(times.size());
  if (n < kFewestForModes) return std::nullopt;
  const int least = std::max(2, static_cast<int>(n / 10) + 1);
  std::optional<Split> split = best_split(logs(times), least);
  if (!split || split->share < kFlatShare + kSplitMargin / std::sqrt(n + 1)) return std::nullopt;
  if (split->high - split->low < std::log1p(least_apart)) return std::nullopt;
  split->low = std::exp(split->low);
  split->high = std::exp(split->high);
  return split;
}

}  // namespace tandem::stats
