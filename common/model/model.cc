// SPDX-License-Identifier: Apache-2.0
#include "common/model/model.h"

namespace tandem {

void enqueue_loss(Operations& operations, Stream& stream, const Objective& objective,
                  const LossOperands& operands) {
  const auto& [prediction, target, gradient, loss, loss_gradient, padding] = operands;
  const bool is_backward = !loss_gradient.empty();
  switch (objective.kind) {
    case ObjectiveKind::kMeanSquaredError:
      if (is_backward) {
        return operations.enqueue(stream,
                                  MseLossBackward{prediction, target, loss_gradient, gradient});
      }
      return operations.enqueue(stream, MseLoss{prediction, target, gradient, loss});
    case ObjectiveKind::kCrossEntropy:
      if (is_backward) {
        return operations.enqueue(
            stream, CrossEntropyLossBackward{objective.classes, prediction, target, loss_gradient,
                                             gradient, padding});
      }
      return operations.enqueue(
          stream, CrossEntropyLoss{objective.classes, prediction, target, gradient, loss, padding});
  }
}

void charge(const Executor& on, int calls, DispatchKind kind) {
  if (on.calls != nullptr) *on.calls += calls;
  if (on.interpreter != nullptr) dispatch(*on.interpreter, on.stream, kind, calls);
}

void enqueue_cast(const Executor& on, ConstAnySpan from, AnySpan to) {
  if (from.data() != to.data()) on.enqueue(Convert{.tensors = {{from, to}}});
}

const ParameterLayout& Model::buffers() const {
  static const ParameterLayout none;
  return none;
}

void Model::initialise_buffers(Executor /*on*/, const TensorList& /*buffers*/) const {}

void check_runs_on(const Model& model, Backend backend) {
  if (!model.needs_images()) return;
  const std::string lack = lack_of_images(backend);
  if (lack.empty()) return;
  fail(ErrorKind::kUsage, "{}: {}: use --backend=host, or another model", model.name(), lack);
}

}  // namespace tandem
