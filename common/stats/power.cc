// SPDX-License-Identifier: Apache-2.0
#include "common/stats/power.h"

#include <cmath>

#include "common/base/error.h"
#include "common/stats/distributions.h"
#include "common/stats/rounds.h"

namespace tandem::stats {
namespace {

// The interval's half in standard errors, and the degrees of freedom of the latter.
struct TCriterion {
  double height;
  double degrees;

  explicit TCriterion(const RoundsAhead& ahead)
      : height(half_in_errors(ahead.rounds, ahead.confidence)),
        degrees(ahead.rounds - 2 * trimmed_at_each_end(ahead.rounds) - 1) {}

  // Mean and deviation of the normal variable that the true difference, in standard errors, is to
  // exceed.
  [[nodiscard]] double mean() const { return height * (1 - 1 / (4 * degrees)); }
  [[nodiscard]] double deviation() const { return std::sqrt(1 + height * height / (2 * degrees)); }
};

}  // namespace

std::optional<double> scatter_of(const Estimate& ratio, double confidence) {
  if (!ratio.interval) return std::nullopt;
  const double half = std::log(ratio.interval->high / ratio.interval->low) / 2;
  return half / half_in_errors(ratio.launches, confidence) * std::sqrt(ratio.launches);
}

double power_of(const RoundsAhead& ahead, double ratio) {
  TANDEM_CHECK(ratio > 0, "a ratio of {}", ratio);
  if (ahead.scatter == 0) return ratio == 1 ? 0 : 1;
  const TCriterion criterion(ahead);
  const double errors = std::abs(std::log(ratio)) * std::sqrt(ahead.rounds) / ahead.scatter;
  return normal_cdf((errors - criterion.mean()) / criterion.deviation());
}

double least_ratio_told(const RoundsAhead& ahead) {
  const TCriterion criterion(ahead);
  const double errors = criterion.mean() + normal_quantile(kPower) * criterion.deviation();
  return std::exp(errors * ahead.scatter / std::sqrt(ahead.rounds));
}

std::optional<int> rounds_to_tell(double ratio, double scatter, double confidence) {
  TANDEM_CHECK(ratio > 1, "a ratio of {}", ratio);
  for (int rounds = 2; rounds <= kMostRoundsAhead; ++rounds) {
    if (power_of({scatter, rounds, confidence}, ratio) >= kPower) return rounds;
  }
  return std::nullopt;
}

}  // namespace tandem::stats
