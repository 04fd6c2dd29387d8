// SPDX-License-Identifier: Apache-2.0
#include "common/stats/estimate.h"

#include <cmath>

#include "common/base/check.h"
#include "common/stats/logs.h"
#include "common/stats/student_t.h"
#include "common/stats/summary.h"

namespace tandem::stats {

Estimate center_of_means(std::span<const double> launch_means) {
  Estimate result{.center = mean(launch_means),
                  .interval = std::nullopt,
                  .launches = static_cast<int>(launch_means.size())};
  if (result.launches < 2) return result;
  const double n = result.launches;
  const double half =
      student_t_critical(kConfidence, n - 1) * std::sqrt(sample_variance(launch_means) / n);
  result.interval = Interval{result.center - half, result.center + half};
  return result;
}

Estimate center_of_medians(std::span<const double> launch_medians) {
  return exponential(center_of_means(logs(launch_medians)));
}

Estimate rate(double amount, const Estimate& time) {
  TANDEM_CHECK(amount > 0 && time.center > 0, "amount {}, time {}", amount, time.center);
  Estimate result{
      .center = amount / time.center, .interval = std::nullopt, .launches = time.launches};
  if (time.interval && time.interval->low > 0) {
    result.interval = Interval{amount / time.interval->high, amount / time.interval->low};
  }
  return result;
}

}  // namespace tandem::stats
