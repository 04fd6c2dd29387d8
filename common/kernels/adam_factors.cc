// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/adam_factors.h"

#include <cmath>

namespace tandem {

void advance(AdamClock& clock, const AdamRates& rates) {
  ++clock.steps;
  const auto t = static_cast<double>(clock.steps);
  clock.factors =
      adam_factors(rates, 1 - std::pow(rates.beta1, t), std::sqrt(1 - std::pow(rates.beta2, t)));
}

}  // namespace tandem
