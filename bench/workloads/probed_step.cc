// SPDX-License-Identifier: Apache-2.0
#include "bench/workloads/probed_step.h"

namespace tandem::bench {

namespace {

constexpr std::uint64_t kSeed = 1;

}  // namespace

ProbedStep::ProbedStep(Platform& platform, Device& device, const Model& model, std::int64_t batch,
                       Precision precision)
    : model_(model),
      operations_(make_operations(device, precision)),
      parameters_(make_arena(device, model.layout())),
      gradients_(make_arena(device, model.layout())),
      buffers_(make_arena(device, model.buffers())),
      weights_(tandem::as_const(parameters_.tensors)),
      state_{.buffers = buffers_.tensors},
      batch_(platform, device, model, {.first = 0, .count = batch},
             {.seed = kSeed, .input = InputPlace::kDevice}),
      loss_(device.allocate(bytes_of<float>(1))),
      optimizer_(make_optimizer(device, model.layout().arena_count(), {})) {
  const Bytes before = device.memory().used;
  activations_ = model.make_activations(device, batch, precision);
  activation_bytes_ = device.memory().used - before;
  stream_ = device.make_stream(StreamPriority::kNormal);
  const Executor on{*operations_, *stream_};
  model.initialise(on, parameters_.tensors, kSeed, Distribution::kUniform);
  model.initialise_buffers(on, buffers_.tensors);
  stream_->synchronize();
}

void ProbedStep::run(StepProbe& probe) {
  WatchedOperations watched(*operations_, probe);
  run_watched(probe, {watched, *stream_, &interpreter_});
  optimizer_->step(*operations_, *stream_, parameters_.flat, gradients_.flat);
  stream_->synchronize();
}

void ProbedStep::run_watched(StepProbe& probe, const Executor& on) {
  const Span<const float> input = batch_.inputs();
  probe.begin_forward(*stream_);
  model_.forward(on, weights_, state_, input, *activations_);
  probe.end_forward(*stream_);
  enqueue_loss(*operations_, *stream_, model_.objective(),
               {.prediction = activations_->output(),
                .target = batch_.targets(),
                .gradient = activations_->output_gradient(),
                .loss = loss_->as<float>(1)});
  probe.begin_backward(*stream_);
  model_.backward({on.operations, *stream_}, weights_, input, *activations_, gradients_.tensors,
                  probe);
  probe.end_backward(*stream_);
}

}  // namespace tandem::bench
