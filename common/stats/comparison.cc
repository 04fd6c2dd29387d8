// SPDX-License-Identifier: Apache-2.0
#include "common/stats/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "common/stats/bootstrap.h"
#include "common/stats/logs.h"
#include "common/stats/student_t.h"
#include "common/stats/summary.h"

namespace tandem::stats {
namespace {

// Squared standard error of a mean.
double squared_error(const std::vector<double>& values) {
  return sample_variance(values) / static_cast<double>(values.size());
}

// Welch and Satterthwaite; where neither scatters, the pooled degrees of freedom (any will do: the
// interval is a point).
double degrees_of_freedom(double error1, double n1, double error2, double n2) {
  const double sum = error1 + error2;
  if (sum == 0) return n1 + n2 - 2;
  // Shares of the sum, since the squares of tiny errors would underflow.
  const double share1 = error1 / sum;
  const double share2 = error2 / sum;
  return 1 / (share1 * share1 / (n1 - 1) + share2 * share2 / (n2 - 1));
}

// What the standard error is multiplied with.
using Critical = double (*)(double confidence, double error1, double n1, double error2, double n2);

double welch(double confidence, double error1, double n1, double error2, double n2) {
  return student_t_critical(confidence, degrees_of_freedom(error1, n1, error2, n2));
}

double cochran(double confidence, double error1, double n1, double error2, double n2) {
  const double sum = error1 + error2;
  if (sum == 0) return 0;
  return error1 / sum * student_t_critical(confidence, n1 - 1) +
         error2 / sum * student_t_critical(confidence, n2 - 1);
}

// Of the means of logs.
Estimate difference_by(Critical critical, const std::vector<double>& top,
                       const std::vector<double>& bottom, double confidence) {
  Estimate difference{.center = mean(top) - mean(bottom),
                      .interval = std::nullopt,
                      .launches = static_cast<int>(std::min(top.size(), bottom.size()))};
  if (difference.launches >= 2) {
    const double error1 = squared_error(top);
    const double error2 = squared_error(bottom);
    const double half = critical(confidence, error1, static_cast<double>(top.size()), error2,
                                 static_cast<double>(bottom.size())) *
                        std::sqrt(error1 + error2);
    difference.interval = Interval{difference.center - half, difference.center + half};
  }
  return difference;
}

}  // namespace

Estimate ratio_of_medians(std::span<const double> numerator, std::span<const double> denominator) {
  const std::vector<double> top = logs(numerator);
  const std::vector<double> bottom = logs(denominator);
  Estimate difference = difference_by(welch, top, bottom, kConfidence);
  if (difference.launches >= kFewestForBootstrap) {
    difference.interval = bootstrap_difference(top, bottom);
  }
  return exponential(difference);
}

Estimate ratio_by_t(std::span<const double> numerator, std::span<const double> denominator,
                    double confidence) {
  const std::size_t fewer = std::min(numerator.size(), denominator.size());
  const std::size_t more = std::max(numerator.size(), denominator.size());
  const Critical critical = 4 * fewer < 3 * more ? cochran : welch;
  return exponential(difference_by(critical, logs(numerator), logs(denominator), confidence));
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFaster:
      return "faster";
    case Verdict::kSlower:
      return "slower";
    case Verdict::kNotResolved:
      break;
  }
  return "not resolved";
}

Verdict judge(const Estimate& speed_ratio) {
  if (!speed_ratio.interval || speed_ratio.interval->holds(1)) return Verdict::kNotResolved;
  return speed_ratio.center > 1 ? Verdict::kFaster : Verdict::kSlower;
}

}  // namespace tandem::stats
