// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/budget.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "common/base/error.h"

namespace tandem::cli {
namespace {

// Seconds per unit; 0 where there is no such unit.
double factor_of(std::string_view unit) {
  if (unit == "ms") return 1e-3;
  if (unit == "s") return 1;
  if (unit == "m" || unit == "min") return 60;
  if (unit == "h") return 3600;
  return 0;
}

}  // namespace

Seconds parse_long_duration(const std::string& text, const std::string& option) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto used = static_cast<std::size_t>(rest - text.data());
  const double seconds = number * factor_of(std::string_view(text).substr(used));
  if (error != std::errc{} || !(seconds > 0) || seconds > 1e9) {
    fail(ErrorKind::kUsage, "{}: '{}' is no duration; give a number with its unit, such as 30m",
         option, text);
  }
  return Seconds{seconds};
}

}  // namespace tandem::cli
