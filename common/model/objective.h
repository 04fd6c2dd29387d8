// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/kernels/operations.h"

namespace tandem {

enum class ObjectiveKind { kMeanSquaredError, kCrossEntropy };

// What a model is trained for: a mean over all elements, or over all rows, of the batch. Each
// sample has as many of them as any other, so that the mean over a batch is that of the means over
// its parts, weighted by their samples.
struct Objective {
  ObjectiveKind kind = ObjectiveKind::kMeanSquaredError;
  // Of a sample. Squared error: as many as the model's outputs. Cross-entropy: one class for each
  // row of `classes` outputs.
  std::int64_t target_width = 0;
  std::int64_t classes = 0;  // of cross-entropy
};

// What MseLoss and CrossEntropyLoss take alike. An empty gradient asks for the loss alone.
struct LossOperands {
  Span<const float> prediction;
  Span<const float> target;
  Span<float> gradient{};  // of cross-entropy, may be the prediction
  Span<float> loss{};      // one element
};

// What MseLossBackward and CrossEntropyLossBackward take alike.
struct LossBackwardOperands {
  Span<const float> prediction;
  Span<const float> target;
  Span<const float> loss_gradient;  // one element
  Span<float> gradient;             // of cross-entropy, may be the prediction
};

// Enqueues the objective's loss with its gradient, or the gradient that arrives at such a loss.
void enqueue_loss(Operations& operations, Stream& stream, const Objective& objective,
                  const LossOperands& operands);
void enqueue_loss_backward(Operations& operations, Stream& stream, const Objective& objective,
                           const LossBackwardOperands& operands);

}  // namespace tandem
