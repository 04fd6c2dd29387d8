// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/single.h"

namespace tandem {

Single::Single(Platform& platform, Device& device, const Model& model, Shard share,
               const TrainingOptions& options, int micro_batches, Interpreter* shared)
    : own_interpreter_(options.interpreter.costs),
      interpreter_(shared == nullptr ? own_interpreter_ : *shared),
      parameters_(model.layout().size()),
      batch_(platform, device, model, share, options),
      loss_(device.allocate(bytes_of<float>(1))),
      gradients_(make_arena(device, model.layout())),
      optimizer_(make_optimizer(device, model.layout().arena_count(), options.optimizer)),
      replica_(device, model, MicroBatches::size(share.count, micro_batches), options,
               MicroBatches::output_type(micro_batches)),
      micro_batches_(replica_, model.layout(), micro_batches, loss_->as<float>()) {
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
  micro_batches_.train(batch_.inputs(), batch_.targets(), gradients_.tensors, nobody, interpreter_);
  timer.begin(stream, Phase::kUpdate);
  dispatch(interpreter_, stream, DispatchKind::kOptimizer, parameters_);
  optimizer_->step(replica_.operations(), stream, replica_.parameters().flat, gradients_.flat);
  timer.end_step(stream);
}

}  // namespace tandem
