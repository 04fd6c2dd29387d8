// SPDX-License-Identifier: Apache-2.0
#include "common/stats/student_t.h"

#include <cmath>
#include <limits>

#include "common/base/check.h"

namespace tandem::stats {
namespace {

// Lentz's method divides by partial results: a zero there is replaced by a value that vanishes.
double away_from_zero(double value) {
  constexpr double kTiny = 1e-300;
  return std::abs(value) < kTiny ? kTiny : value;
}

// The continued fraction of I_x(a, b), without its leading factor.
double beta_fraction(double a, double b, double x) {
  constexpr int kMostTerms = 10000;  // needs O(sqrt(max(a, b))): enough for any number of launches
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double value = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    value *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    value *= d * c;
    if (std::abs(d * c - 1) < 2 * kEpsilon) return value;
  }
  fail(ErrorKind::kLogic, "incomplete beta({}, {}, {}) does not converge", a, b, x);
}

}  // namespace

double incomplete_beta(double a, double b, double x, double complement) {
  TANDEM_CHECK(a > 0 && b > 0, "a is {}, b is {}", a, b);
  TANDEM_CHECK(x >= 0 && complement >= 0, "x is {}, 1 - x is {}", x, complement);
  if (x == 0) return 0;
  if (complement == 0) return 1;
  const double log_factor = std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) +
                            b * std::log(complement);
  const double factor = std::exp(log_factor);
  if (x < (a + 1) / (a + b + 2)) return factor * beta_fraction(a, b, x) / a;
  return 1 - factor * beta_fraction(b, a, complement) / b;
}

double student_t_two_sided(double t, double degrees) {
  TANDEM_CHECK(t >= 0 && degrees > 0, "t is {}, degrees of freedom {}", t, degrees);
  const double sum = degrees + t * t;
  return incomplete_beta(degrees / 2, 0.5, degrees / sum, t * t / sum);
}

double student_t_critical(double confidence, double degrees) {
  TANDEM_CHECK(confidence > 0 && confidence < 1, "confidence is {}", confidence);
  TANDEM_CHECK(degrees > 0, "degrees of freedom are {}", degrees);
  const double outside = 1 - confidence;
  double low = 0;
  double high = 1;
  while (student_t_two_sided(high, degrees) > outside) high *= 2;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;
    (student_t_two_sided(middle, degrees) > outside ? low : high) = middle;
  }
}

}  // namespace tandem::stats
