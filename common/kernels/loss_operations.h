// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/runtime/span.h"

namespace tandem {

// loss = mean over all elements of (prediction - target)^2, gradient = 2 (prediction - target) / n.
// An empty gradient asks for the loss alone.
struct MseLoss {
  Span<const float> prediction;
  Span<const float> target;
  Span<float> gradient{};
  Span<float> loss{};  // one element
};

// gradient = 2 (prediction - target) / n * loss_gradient, where loss_gradient is the gradient of a
// sum of losses with respect to this loss.
struct MseLossBackward {
  Span<const float> prediction;
  Span<const float> target;
  Span<const float> loss_gradient;  // one element
  Span<float> gradient;
};

// Softmax, logarithm, choice of the target's class and mean in one pass, with the gradient:
// loss = mean over rows of log(sum(exp(prediction[r]))) - prediction[r][target[r]],
// gradient = (softmax(prediction[r]) - onehot(target[r])) / rows. Targets are whole numbers in
// [0, classes), held as fp32. An empty gradient asks for the loss alone.
struct CrossEntropyLoss {
  std::int64_t classes = 0;
  Span<const float> prediction;  // (rows, classes)
  Span<const float> target;      // (rows)
  Span<float> gradient{};        // (rows, classes), may be prediction
  Span<float> loss{};            // one element
};

// The gradient of CrossEntropyLoss, times loss_gradient.
struct CrossEntropyLossBackward {
  std::int64_t classes = 0;
  Span<const float> prediction;     // (rows, classes)
  Span<const float> target;         // (rows)
  Span<const float> loss_gradient;  // one element
  Span<float> gradient;             // (rows, classes), may be prediction
};

// sum = values[0] * weights[0] + values[1] * weights[1] + ...
struct WeightedSum {
  Span<const float> values;
  Span<const float> weights;
  Span<float> sum;  // one element
};

}  // namespace tandem
