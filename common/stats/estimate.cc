// SPDX-License-Identifier: Apache-2.0
#include "common/stats/estimate.h"

#include <cmath>
#include <vector>

#include "common/base/error.h"
#include "common/stats/bootstrap.h"
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
  const std::vector<double> values = logs(launch_medians);
  Estimate result = center_of_means(values);
  if (result.launches >= kFewestForBootstrap) result.interval = bootstrap_mean(values);
  return exponential(result);
}

Estimate center_by_t(std::span<const double> values) {
  return exponential(center_of_means(logs(values)));
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

Estimate divided(const Estimate& estimate, double divisor) {
  TANDEM_CHECK(divisor > 0, "divided by {}", divisor);
  Estimate result = estimate;
  result.center /= divisor;
  if (result.interval) {
    result.interval = Interval{result.interval->low / divisor, result.interval->high / divisor};
  }
  return result;
}

}  // namespace tandem::stats
