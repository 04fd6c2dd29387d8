// SPDX-License-Identifier: Apache-2.0
//
// Plain summaries of a sample. Each throws a logic error on an empty sample, since any number could
// be mistaken for a measurement.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "common/stats/estimate.h"

namespace tandem::stats {

// The arithmetic mean, summed with compensation (Neumaier) so that long samples lose no digits.
[[nodiscard]] double mean(std::span<const double> values);

// The middle value of the sorted sample; the mean of the two middle values where their number is
// even.
[[nodiscard]] double median(std::span<const double> values);

// The percentile by nearest rank: the smallest value that at least `percent` of the values do not
// exceed. `percent` lies above 0 and up to 100.
[[nodiscard]] double percentile(std::span<const double> values, double percent);

// The 99th percentile; nothing for fewer than 1000 values, of which the 99th percentile is the
// largest or a near one and says nothing else.
[[nodiscard]] std::optional<double> percentile_99(std::span<const double> values);

[[nodiscard]] double minimum(std::span<const double> values);
[[nodiscard]] double maximum(std::span<const double> values);

// The unbiased variance, sum of squared deviations / (n - 1). Needs two values.
[[nodiscard]] double sample_variance(std::span<const double> values);

// The natural logarithms of the values; throws a logic error on a value that is not positive and
// finite.
[[nodiscard]] std::vector<double> logs(std::span<const double> values);

// The exponential of an estimate on logs: exp of its centre and of its interval's ends.
[[nodiscard]] Estimate exponential(const Estimate& on_logs);

}  // namespace tandem::stats
