// SPDX-License-Identifier: Apache-2.0
#include "common/stats/logs.h"

#include <cmath>

#include "common/base/error.h"

namespace tandem::stats {

std::vector<double> logs(std::span<const double> values) {
  std::vector<double> result;
  result.reserve(values.size());
  for (const double value : values) {
    TANDEM_CHECK(value > 0 && std::isfinite(value), "a time is {}", value);
    result.push_back(std::log(value));
  }
  return result;
}

Estimate exponential(const Estimate& on_logs) {
  Estimate result = on_logs;
  result.center = std::exp(on_logs.center);
  if (on_logs.interval) {
    result.interval = Interval{std::exp(on_logs.interval->low), std::exp(on_logs.interval->high)};
  }
  return result;
}

}  // namespace tandem::stats
