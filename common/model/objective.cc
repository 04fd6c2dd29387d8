// SPDX-License-Identifier: Apache-2.0
#include "common/model/objective.h"

namespace tandem {

void enqueue_loss(Operations& operations, Stream& stream, const Objective& objective,
                  const LossOperands& operands) {
  const auto& [prediction, target, gradient, loss] = operands;
  switch (objective.kind) {
    case ObjectiveKind::kMeanSquaredError:
      return operations.enqueue(stream, MseLoss{prediction, target, gradient, loss});
    case ObjectiveKind::kCrossEntropy:
      return operations.enqueue(
          stream, CrossEntropyLoss{objective.classes, prediction, target, gradient, loss});
  }
}

void enqueue_loss_backward(Operations& operations, Stream& stream, const Objective& objective,
                           const LossBackwardOperands& operands) {
  const auto& [prediction, target, loss_gradient, gradient] = operands;
  switch (objective.kind) {
    case ObjectiveKind::kMeanSquaredError:
      return operations.enqueue(stream,
                                MseLossBackward{prediction, target, loss_gradient, gradient});
    case ObjectiveKind::kCrossEntropy:
      return operations.enqueue(stream, CrossEntropyLossBackward{objective.classes, prediction,
                                                                 target, loss_gradient, gradient});
  }
}

}  // namespace tandem
