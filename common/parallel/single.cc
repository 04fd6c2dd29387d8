// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/single.h"

namespace tandem {

Single::Single(Platform& platform, Device& device, const Model& model, Shard share,
               const TrainingOptions& options, Interpreter* shared)
    : own_interpreter_(options.interpreter.costs),
      interpreter_(shared == nullptr ? own_interpreter_ : *shared),
      parameters_(model.layout().size()),
      batch_(platform, device, model, share, options),
      loss_(device.allocate(bytes_of<float>(1))),
      gradients_(make_arena(device, model.layout())),
      optimizer_(make_optimizer(device, model.layout().arena_count(), options.optimizer)),
      replica_(device, model, share.count, options) {
  replica_.prime(gradients_.tensors);
  replica_.initialise(options.seed, options.distribution);
  replica_.stream().synchronize();
}

void Single::step() {
  Stream& stream = replica_.stream();
  PhaseTimer& timer = replica_.timer();
  IgnoreGradients nobody;

  timer.begin(stream, Phase::kInput);
  batch_.load(replica_, interpreter_);
  timer.begin(stream, Phase::kForward);
  replica_.forward(batch_.inputs(), interpreter_);
  timer.begin(stream, Phase::kLoss);
  replica_.compute_loss(batch_.targets(), loss_->as<float>(), interpreter_);
  timer.begin(stream, Phase::kBackward);
  replica_.begin_backward(interpreter_);
  replica_.backward(batch_.inputs(), gradients_.tensors, nobody);
  replica_.end_backward(interpreter_);
  timer.begin(stream, Phase::kUpdate);
  dispatch(interpreter_, stream, DispatchKind::kOptimizer, parameters_);
  optimizer_->step(replica_.operations(), stream, replica_.parameters().flat, gradients_.flat);
  timer.end_step(stream);
}

}  // namespace tandem
