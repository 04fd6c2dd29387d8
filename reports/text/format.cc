// SPDX-License-Identifier: Apache-2.0
#include "reports/text/format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tandem::reports {
namespace {

struct TimeUnit {
  double factor;
  const char* name;
};

TimeUnit time_unit(double seconds) {
  if (seconds < 1e-3) return {1e6, " us"};
  if (seconds < 1) return {1e3, " ms"};
  return {1, " s"};
}

// The value with four significant digits, without an exponent.
std::string significant(double value) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{:.0f}", value);
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
  return fmt::format("{:.{}f}", value, std::max(0, 3 - magnitude));
}

// The digits of a factor beyond a thousand say nothing.
std::string factor(double value, int digits) {
  if (value > 1000) return ">1000";
  if (value < 0.001) return "<0.001";
  return fmt::format("{:.{}f}", value, value < 0.01 ? std::max(digits, 3) : digits);
}

std::string grouped(double value) {
  if (std::abs(value) < 1000) return significant(value);
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t place = digits.size(); place > 3;) {
    place -= 3;
    digits = digits.substr(0, place) + "," + digits.substr(place);
  }
  return digits;
}

// Two decimals, or more where an end other than 1 would read as 1.00, since the side of 1 decides.
int ratio_digits(const stats::Estimate& ratio) {
  if (!ratio.interval) return 2;
  for (const int digits : {2, 3}) {
    const double half_unit = 0.5 * std::pow(10, -digits);
    const bool blurred = std::abs(ratio.interval->low - 1) <= half_unit ||
                         std::abs(ratio.interval->high - 1) <= half_unit;
    if (!blurred) return digits;
  }
  return 4;
}

// The centre by `text`, then `unit`, then the interval's ends by `text` where there is one.
template <class Text>
std::string with_interval(const stats::Estimate& estimate, std::string_view unit, Text text) {
  std::string shown = text(estimate.center).append(unit);
  if (!estimate.interval) return shown;
  return shown +
         fmt::format(" [{} .. {}]", text(estimate.interval->low), text(estimate.interval->high));
}

}  // namespace

std::string duration_text(const stats::Estimate& seconds) {
  const TimeUnit unit = time_unit(seconds.center);
  return with_interval(seconds, unit.name,
                       [&](double value) { return significant(value * unit.factor); });
}

std::string duration_text(double seconds) {
  return duration_text({.center = seconds, .interval = {}, .launches = 1});
}

std::string rate_text(const stats::Estimate& per_second) {
  if (is_unbounded(per_second)) return grouped(per_second.center) + " [interval unbounded]";
  return with_interval(per_second, "", grouped);
}

std::string rate_text(double per_second) { return grouped(per_second); }

std::string ratio_text(const stats::Estimate& ratio) {
  const int digits = ratio_digits(ratio);
  return with_interval(ratio, "x", [&](double value) { return factor(value, digits); });
}

std::string fixed_text(const stats::Estimate& estimate, int digits, std::string_view unit,
                       double scale) {
  return with_interval(estimate, unit,
                       [&](double value) { return fmt::format("{:.{}f}", scale * value, digits); });
}

std::string factor_text(double ratio) { return factor(ratio, 2) + "x"; }

std::string times_text(double ratio) { return factor(ratio, 2) + " times"; }

bool is_unbounded(const stats::Estimate& estimate) {
  return estimate.launches >= 2 && (!estimate.interval || !std::isfinite(estimate.interval->high));
}

bool is_too_wide(const stats::Estimate& estimate) {
  if (is_unbounded(estimate)) return true;
  return estimate.interval && estimate.interval->high > 3 * estimate.interval->low;
}

std::string interval_words(const stats::Estimate& ratio, double confidence) {
  if (!ratio.interval) return "no interval: a single launch does not show how launches vary";
  const int digits = ratio_digits(ratio);
  return fmt::format("{:.3g} % interval {} to {}", 100 * confidence,
                     factor(ratio.interval->low, digits), factor(ratio.interval->high, digits));
}

std::string equal_text(double within) { return fmt::format("equal within {:g} %", 100 * within); }

std::string join(const std::vector<std::string>& parts, const std::string& between) {
  return fmt::format("{}", fmt::join(parts, between));
}

}  // namespace tandem::reports
