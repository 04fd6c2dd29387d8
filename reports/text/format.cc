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
  if (seconds < 1e-3) return {1e6, "us"};
  if (seconds < 1) return {1e3, "ms"};
  return {1, "s"};
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

}  // namespace

std::string duration_text(const stats::Estimate& seconds) {
  const TimeUnit unit = time_unit(seconds.center);
  std::string text = significant(seconds.center * unit.factor) + " " + unit.name;
  if (seconds.interval) {
    text += fmt::format(" [{} .. {}]", significant(seconds.interval->low * unit.factor),
                        significant(seconds.interval->high * unit.factor));
  }
  return text;
}

std::string rate_text(const stats::Estimate& per_second) {
  std::string text = grouped(per_second.center);
  if (per_second.interval && !is_unbounded(per_second)) {
    text += fmt::format(" [{} .. {}]", grouped(per_second.interval->low),
                        grouped(per_second.interval->high));
  } else if (is_unbounded(per_second)) {
    text += " [interval unbounded]";
  }
  return text;
}

std::string ratio_text(const stats::Estimate& ratio) {
  const int digits = ratio_digits(ratio);
  std::string text = factor(ratio.center, digits) + "x";
  if (ratio.interval) {
    text += fmt::format(" [{} .. {}]", factor(ratio.interval->low, digits),
                        factor(ratio.interval->high, digits));
  }
  return text;
}

std::string whole_percent_text(const stats::Estimate& share) {
  std::string text = fmt::format("{:.0f} %", 100 * share.center);
  if (share.interval) {
    text +=
        fmt::format(" [{:.0f} .. {:.0f}]", 100 * share.interval->low, 100 * share.interval->high);
  }
  return text;
}

std::string factor_text(double ratio) { return factor(ratio, 2) + "x"; }

bool is_unbounded(const stats::Estimate& estimate) {
  return estimate.launches >= 2 && (!estimate.interval || !std::isfinite(estimate.interval->high));
}

std::string interval_words(const stats::Estimate& ratio) {
  if (!ratio.interval) return "no interval: a single launch does not tell how launches vary";
  const int digits = ratio_digits(ratio);
  return fmt::format("95 % interval {} to {}", factor(ratio.interval->low, digits),
                     factor(ratio.interval->high, digits));
}

std::string join(const std::vector<std::string>& parts, const std::string& between) {
  return fmt::format("{}", fmt::join(parts, between));
}

}  // namespace tandem::reports
