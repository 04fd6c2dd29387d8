// SPDX-License-Identifier: Apache-2.0
#include "common/stats/distributions.h"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "common/base/error.h"

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

}  // namespace tandem::stats
