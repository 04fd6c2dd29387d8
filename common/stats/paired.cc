// SPDX-License-Identifier: Apache-2.0
#include "common/stats/paired.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/base/error.h"
#include "common/stats/summary.h"

namespace tandem::stats {
namespace {

// Below 20 pairs the approximation covers too little.
constexpr std::size_t kFewestForInterval = 20;
constexpr double kNormalQuantile = 1.959964;  // quantile of 97.5 %

}  // namespace

Estimate median_of_paired_ratios(std::span<const double> a, std::span<const double> b) {
  TANDEM_CHECK(a.size() == b.size() && !a.empty(), "{} and {} values", a.size(), b.size());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.size(); ++i) ratios.push_back(b[i] / a[i]);
  std::sort(ratios.begin(), ratios.end());
  Estimate estimate{
      .center = median(ratios), .interval = {}, .launches = static_cast<int>(a.size())};
  if (ratios.size() < kFewestForInterval) return estimate;
  const auto n = static_cast<double>(ratios.size());
  const double half = kNormalQuantile * std::sqrt(n) / 2;
  const auto low = static_cast<std::size_t>(std::floor(n / 2 - half));
  estimate.interval = Interval{ratios[low], ratios[ratios.size() - 1 - low]};
  return estimate;
}

Estimate ratio_of_paired_sets(std::span<const PairedTimes> sets) {
  TANDEM_CHECK(!sets.empty(), "no set of pairs");
  const auto ratio_of = [](const PairedTimes& set) {
    return median_of_paired_ratios(set.a, set.b).center;
  };
  std::vector<double> units;
  for (std::size_t first = 0; first < sets.size(); first += 2) {
    const std::size_t second = std::min(first + 1, sets.size() - 1);
    units.push_back(std::sqrt(ratio_of(sets[first]) * ratio_of(sets[second])));
  }
  return center_by_t(units);
}

}  // namespace tandem::stats
