// SPDX-License-Identifier: Apache-2.0
#include "common/stats/distributions.h"

#include <cmath>
#include <limits>
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

namespace {

// Replaces zero by a negligible value, since Lentz's method divides by partial results.
double away_from_zero(double value) {
  constexpr double kTiny = 1e-300;
  return std::abs(value) < kTiny ? kTiny : value;
}

// The continued fraction of I_x(a, b), without its leading factor.
double beta_fraction(double a, double b, double x) {
  constexpr int kMostTerms = 10000;  // O(sqrt(max(a, b))) terms suffice
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

namespace {

// P(|T| > t) for t >= 0: I_{v/(v+t^2)}(v/2, 1/2), Abramowitz and Stegun 26.7.1.
double student_t_two_sided(double t, double degrees) {
  TANDEM_CHECK(t >= 0 && degrees > 0, "t is {}, degrees of freedom {}", t, degrees);
  const double sum = degrees + t * t;
  return incomplete_beta(degrees / 2, 0.5, degrees / sum, t * t / sum);
}

// The density of |T| at t.
double student_t_density(double t, double degrees) {
  const double log_scale = std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2) -
                           std::log(degrees * std::numbers::pi) / 2;
  return 2 * std::exp(log_scale - (degrees + 1) / 2 * std::log1p(t / degrees * t));
}

double bisected(double low, double high, double outside, double degrees) {
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;
    (student_t_two_sided(middle, degrees) > outside ? low : high) = middle;
  }
}

// Newton's method from below, which does not pass the solution, since the two-sided probability is
// convex; the error after a step is about the square of that step.
double critical(double confidence, double degrees) {
  constexpr double kLastStep = 1e-8;  // relative step
  constexpr int kMostSteps = 20;
  const double outside = 1 - confidence;
  double low = 0;
  double high = 1;
  for (; student_t_two_sided(high, degrees) > outside; high *= 2) low = high;
  for (int step = 0; step < kMostSteps; ++step) {
    const double excess = student_t_two_sided(low, degrees) - outside;
    const double next = low + excess / student_t_density(low, degrees);
    if (!(next > low && next < high)) break;
    if (next - low < kLastStep * next) return next;
    low = next;
  }
  return bisected(low, high, outside, degrees);
}

}  // namespace

// Keeps the last value: cells have the same number of launches, so the same value is asked for
// thousands of times in a row.
double student_t_critical(double confidence, double degrees) {
  struct Found {
    double confidence = 0;
    double degrees = 0;
    double value = 0;
  };
  thread_local Found last;
  TANDEM_CHECK(confidence > 0 && confidence < 1, "confidence is {}", confidence);
  TANDEM_CHECK(degrees > 0, "degrees of freedom are {}", degrees);
  if (confidence != last.confidence || degrees != last.degrees) {
    last = {confidence, degrees, critical(confidence, degrees)};
  }
  return last.value;
}

}  // namespace tandem::stats
