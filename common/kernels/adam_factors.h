// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace tandem {

// The options of torch's Adam and AdamW. Double, as in Python: 1 - beta2 in float would have a
// relative error of 5e-5.
struct AdamRates {
  double learning_rate = 0;
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  double decay = 0;  // AdamW only: before the update, weight -= learning_rate decay weight
};

// AdamUpdate's factors of one step: made in double, then rounded, as torch does.
struct AdamFactors {
  float kept;  // factor of the weight: 1 - learning_rate decay
  float first_gain;
  float second_decay;
  float second_gain;
  float step_size;
  float second_root;  // sqrt(1 - beta2^t)
  float epsilon;
};

// The steps taken so far and the last step's factors, which lie with the moments on the device.
// Zero before the first step. Floats alone, as torch's own count is one: beyond 2^24 steps it
// stands still, where the powers are long zero.
struct AdamClock {
  static constexpr int kFloats = 8;

  float steps;
  AdamFactors factors;
};
static_assert(sizeof(AdamClock) == AdamClock::kFloats * sizeof(float));

// The factors of step t; `first_left` is 1 - beta1^t, `second_root` is sqrt(1 - beta2^t).
[[nodiscard]] constexpr AdamFactors adam_factors(const AdamRates& rates, double first_left,
                                                 double second_root) {
  return {.kept = static_cast<float>(1 - rates.learning_rate * rates.decay),
          .first_gain = static_cast<float>(1 - rates.beta1),
          .second_decay = static_cast<float>(rates.beta2),
          .second_gain = static_cast<float>(1 - rates.beta2),
          .step_size = static_cast<float>(rates.learning_rate / first_left),
          .second_root = static_cast<float>(second_root),
          .epsilon = static_cast<float>(rates.epsilon)};
}

// Counts a step and makes its factors, on the host.
inline void advance(AdamClock& clock, const AdamRates& rates) {
  ++clock.steps;
  const auto t = static_cast<double>(clock.steps);
  clock.factors =
      adam_factors(rates, 1 - std::pow(rates.beta1, t), std::sqrt(1 - std::pow(rates.beta2, t)));
}

}  // namespace tandem
