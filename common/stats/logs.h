// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "common/stats/estimate.h"

namespace tandem::stats {

// The natural logarithms of the values; throws a logic error on a value that is not positive and
// finite.
[[nodiscard]] std::vector<double> logs(std::span<const double> values);

// The exponential of an estimate on logs: exp of its centre and of its interval's ends.
[[nodiscard]] Estimate exponential(const Estimate& on_logs);

}  // namespace tandem::stats
