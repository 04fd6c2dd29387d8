// SPDX-License-Identifier: Apache-2.0
#include "common/stats/rounds.h"

#include <cmath>
#include <vector>

#include "common/base/error.h"
#include "common/stats/distributions.h"
#include "common/stats/summary.h"

namespace tandem::stats {

Estimate ratio_in_rounds(std::span<const double> numerator, std::span<const double> denominator,
                         double confidence) {
  TANDEM_CHECK(numerator.size() == denominator.size(), "{} and {} values of as many rounds",
               numerator.size(), denominator.size());
  std::vector<double> differences = logs(numerator);
  const std::vector<double> bottom = logs(denominator);
  for (std::size_t i = 0; i < differences.size(); ++i) differences[i] -= bottom[i];
  Estimate difference{.center = mean(differences),
                      .interval = std::nullopt,
                      .launches = static_cast<int>(differences.size())};
  if (difference.launches >= 2) {
    const double n = difference.launches;
    const double half =
        student_t_critical(confidence, n - 1) * std::sqrt(sample_variance(differences) / n);
    difference.interval = Interval{difference.center - half, difference.center + half};
  }
  return exponential(difference);
}

}  // namespace tandem::stats
