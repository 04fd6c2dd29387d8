// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/runtime/span.h"

namespace tandem {

// velocity = momentum * velocity + gradient; weight -= learning_rate * velocity  (as torch's SGD)
struct SgdUpdate {
  Span<const float> gradient;
  Span<float> velocity;
  Span<float> weight;
  float learning_rate = 0;
  float momentum = 0;
};

// The update of torch's Adam and AdamW, for step t = 1, 2, ...:
// first += (1 - beta1) (gradient - first); second = beta2 second + (1 - beta2) gradient^2;
// weight -= learning_rate / (1 - beta1^t) * first / (sqrt(second) / sqrt(1 - beta2^t) + epsilon)
struct AdamUpdate {
  Span<const float> gradient;
  Span<float> first;   // first moment
  Span<float> second;  // second moment
  Span<float> weight;
  // The factors are double, as in Python: 1 - beta2 in float would have a relative error of 5e-5.
  double learning_rate = 0;
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  std::int64_t step = 0;  // t
  double decay = 0;       // AdamW only: before the update, weight -= learning_rate decay weight
};

}  // namespace tandem
