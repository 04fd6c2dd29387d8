// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "common/model/model.h"
#include "common/parallel/arena.h"
#include "common/parallel/observed_operations.h"
#include "common/parallel/training_options.h"

namespace tandem {

// One device's copy of the model: weights, activations for the copy's share of the batch, and the
// means to compute. Knows no other device.
class Replica {
 public:
  // Makes a replica for `batch` samples; uses only the options of phases and precision.
  Replica(Device& device, const Model& model, std::int64_t batch, const TrainingOptions& options);

  // Makes a replica on parameters that lie elsewhere on the device, in memory of a communicator.
  Replica(Device& device, const Model& model, std::int64_t batch, const TrainingOptions& options,
          Arena parameters);

  [[nodiscard]] Device& device() { return device_; }
  [[nodiscard]] Stream& stream() { return *stream_; }
  [[nodiscard]] Operations& operations() {
    return observed_ ? static_cast<Operations&>(*observed_) : *operations_;
  }
  // The result of Operations::means().
  [[nodiscard]] std::map<std::string, std::string> means() const { return operations_->means(); }
  [[nodiscard]] PhaseTimer& timer() { return timer_; }
  [[nodiscard]] const Arena& parameters() const { return parameters_; }
  [[nodiscard]] const Arena& buffers() const { return buffers_; }
  [[nodiscard]] ModuleState& state() { return state_; }
  [[nodiscard]] Span<float> output() { return activations_->output(); }
  [[nodiscard]] Span<float> output_gradient() { return activations_->output_gradient(); }

  // Call before the replica has weights. On GPUs, runs a forward and a backward on zeros and waits
  // for both: libraries load their kernels and choose algorithms, and operations take scratch
  // memory, when a shape first occurs; each such call may wait for all work on the GPUs, and so for
  // ever behind a collective that waits for a peer's launch. Leaves parameters, buffers and
  // `gradients` zero, and is no step to timers, observers and interpreters. On the host it does
  // nothing.
  void rehearse(const TensorList& gradients);

  // The calls below enqueue. `input` must stay until backward is done; `interpreter` is the calling
  // thread's.
  void initialise(std::uint64_t seed, Distribution distribution);
  void forward(Span<const float> input, Interpreter& interpreter);
  // Enqueues the model's objective for the output and `targets`, and its gradient; `loss` is one
  // element.
  void compute_loss(Span<const float> targets, Span<float> loss, Interpreter& interpreter);
  void backward(Span<const float> input, const TensorList& gradients, GradientSink& sink);

 private:
  [[nodiscard]] Executor on() { return {operations(), *stream_}; }
  void enqueue_rehearsal(Span<const float> input, const TensorList& gradients);

  Device& device_;
  const Model& model_;
  const std::int64_t batch_;
  const std::vector<StepObserver*> observers_;
  const std::vector<WorkObserver*> work_observers_;
  const std::unique_ptr<Operations> operations_;
  const Arena parameters_;
  const ConstTensorList weights_;
  const std::unique_ptr<ObservedOperations> observed_;  // set where an observer watches work
  const Arena buffers_;
  ModuleState state_;
  const std::unique_ptr<Activations> activations_;
  PhaseTimer timer_;
  const std::unique_ptr<Stream> stream_;  // last: ends its work before the operands go
};

}  // namespace tandem
