// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tandem::stats {

// P(Z <= z) of the standard normal distribution, by the complementary error function.
[[nodiscard]] double normal_cdf(double z);

// The z with P(Z <= z) = probability, which lies between 0 and 1. Found by bisection of
// normal_cdf() down to neighbouring doubles.
[[nodiscard]] double normal_quantile(double probability);

}  // namespace tandem::stats
