// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/kernels/operations.h"

namespace tandem {

enum class ObjectiveKind { kMeanSquaredError, kCrossEntropy };

// The objective of training: a mean over all elements, or over all rows, of the batch. Each sample
// has the same number of elements or rows, so that the mean over a batch is the mean of the parts'
// means, weighted by the parts' samples.
struct Objective {
  ObjectiveKind kind = ObjectiveKind::kMeanSquaredError;
  // The number of targets per sample. Squared error: as many as the model's outputs. Cross-entropy:
  // one class for each row of `classes` outputs.
  std::int64_t target_width = 0;
  std::int64_t classes = 0;  // cross-entropy only
};

// The operands that MseLoss and CrossEntropyLoss share. An empty gradient asks for the loss alone.
struct LossOperands {
  Span<const float> prediction;
  Span<const float> target;
  Span<float> gradient{};  // with cross-entropy, may be the prediction
  Span<float> loss{};      // one element
};

// The operands that MseLossBackward and CrossEntropyLossBackward share.
struct LossBackwardOperands {
  Span<const float> prediction;
  Span<const float> target;
  Span<const float> loss_gradient;  // one element
  Span<float> gradient;             // with cross-entropy, may be the prediction
};

// Enqueue the objective's loss with its gradient, or the gradient alone, given the gradient of the
// loss.
void enqueue_loss(Operations& operations, Stream& stream, const Objective& objective,
                  const LossOperands& operands);
void enqueue_loss_backward(Operations& operations, Stream& stream, const Objective& objective,
                           const LossBackwardOperands& operands);

}  // namespace tandem
