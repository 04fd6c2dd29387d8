// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "common/tensor/random.h"

namespace tandem {

using Values = std::vector<double>;

inline Values random_values(std::int64_t count, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  fill_uniform(values, seed, 0, 1);
  return Values(values.begin(), values.end());
}

// d loss / d at[i] is gradient[i], for all i. The error of a central difference is the step's
// square times a sixth of the third derivative.
inline void expect_gradient(const std::function<double()>& loss, Values& at,
                            const Values& gradient) {
  ASSERT_EQ(at.size(), gradient.size());
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double before = at[i];
    at[i] = before + kStep;
    const double above = loss();
    at[i] = before - kStep;
    const double below = loss();
    at[i] = before;
    EXPECT_NEAR((above - below) / (2 * kStep), gradient[i], 1e-9) << "at element " << i;
  }
}

}  // namespace tandem
