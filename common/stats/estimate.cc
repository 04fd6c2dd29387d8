// SPDX-License-Identifier: Apache-2.0
#include "common/stats/estimate.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "common/base/error.h"
#include "common/stats/summary.h"

namespace tandem::stats {

namespace math = boost::math;

double normal_cdf(double z) { return math::cdf(math::normal(), z); }

double normal_quantile(double probability) {
  TANDEM_CHECK(probability > 0 && probability < 1, "probability is {}", probability);
  return math::quantile(math::normal(), probability);
}

double student_t_critical(double confidence, double degrees) {
  TANDEM_CHECK(confidence > 0 && confidence < 1, "confidence is {}", confidence);
  TANDEM_CHECK(degrees > 0, "degrees of freedom are {}", degrees);
  const math::students_t distribution(degrees);
  return math::quantile(math::complement(distribution, (1 - confidence) / 2));
}

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

namespace {

double squared_error(const Term& term) {
  return term.weight * term.weight * sample_variance(term.launch_means) /
         static_cast<double>(term.launch_means.size());
}

// Computes with shares of the sum, since the squares of tiny errors would underflow. Where no term
// scatters, any number will do: the interval is a point.
double degrees_of_freedom(std::span<const Term> terms, double sum) {
  if (sum == 0) return 1;
  double inverse = 0;
  for (const Term& term : terms) {
    const double share = squared_error(term) / sum;
    inverse += share * share / static_cast<double>(term.launch_means.size() - 1);
  }
  return 1 / inverse;
}

}  // namespace

Estimate weighted_sum(std::span<const Term> terms) {
  TANDEM_CHECK(!terms.empty(), "a sum of no terms");
  Estimate result{.center = 0,
                  .interval = std::nullopt,
                  .launches = static_cast<int>(terms.front().launch_means.size())};
  for (const Term& term : terms) {
    result.center += term.weight * mean(term.launch_means);
    result.launches = std::min(result.launches, static_cast<int>(term.launch_means.size()));
  }
  if (result.launches < 2) return result;
  double sum = 0;
  for (const Term& term : terms) sum += squared_error(term);
  const double half =
      student_t_critical(kConfidence, degrees_of_freedom(terms, sum)) * std::sqrt(sum);
  result.interval = Interval{result.center - half, result.center + half};
  return result;
}

bool is_resolved(const Estimate& difference) {
  return difference.interval && !difference.interval->holds(0);
}

}  // namespace tandem::stats
