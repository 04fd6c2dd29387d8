// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "common/stats/estimate.h"

namespace tandem::stats {

// The ratio numerator / denominator of two cells whose launches took turns: numerator[i] and
// denominator[i] are of one round, so that what the machine did in a round cancels in its ratio.
// With m and s of the logs of the n rounds' ratios: exp(m), and exp(m -+ t(confidence, n - 1) s /
// sqrt(n)), Student's t interval of paired values (Student, Biometrika 6, 1908). There is no
// interval below two rounds. `launches` of the result counts rounds.
[[nodiscard]] Estimate ratio_in_rounds(std::span<const double> numerator,
                                       std::span<const double> denominator, double confidence);

}  // namespace tandem::stats
