// SPDX-License-Identifier: Apache-2.0
#include "common/stats/normal.h"

#include <cmath>
#include <numbers>

#include "common/base/error.h"

namespace tandem::stats {

double normal_cdf(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

double normal_quantile(double probability) {
  TANDEM_CHECK(probability > 0 && probability < 1, "probability is {}", probability);
  // Computes in the lower tail, where the distribution function keeps all its digits.
  if (probability > 0.5) return -normal_quantile(1 - probability);
  double low = -40;  // below -40 the probability is no double but 0
  double high = 0;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;
    (normal_cdf(middle) < probability ? low : high) = middle;
  }
}

}  // namespace tandem::stats
