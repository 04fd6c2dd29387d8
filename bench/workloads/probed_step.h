// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "bench/workloads/watched_operations.h"
#include "common/data/synthetic_batch.h"
#include "common/model/model.h"
#include "common/optim/optimizer.h"
#include "common/parallel/replica.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// A probe that is told of forward and backward, operation by operation, while a step is enqueued.
class StepProbe : public OperationWatcher, public GradientSink {
 public:
  // Called before the first operation of a pass, and after the last.
  virtual void begin_forward(Stream& stream) = 0;
  virtual void end_forward(Stream& stream) = 0;
  virtual void begin_backward(Stream& stream) = 0;
  virtual void end_backward(Stream& stream) = 0;
};

// A model on one device, with a batch that lies on the device: steps of forward, loss, backward and
// update (SGD), as `single` runs them, so that caches hold what they hold under `single`. Not
// thread-safe.
class ProbedStep {
 public:
  // All arguments outlive the step.
  ProbedStep(Platform& platform, Device& device, const Model& model, std::int64_t batch,
             Precision precision);

  // Enqueues a step, tells `probe` of the step, and waits for the step.
  void run(StepProbe& probe);

  // The bytes of the activations that the model keeps between forward and backward.
  [[nodiscard]] Bytes activation_bytes() const { return activation_bytes_; }
  [[nodiscard]] const ConstTensorList& weights() const { return weights_; }
  // The interpreter calls that forward has charged so far.
  [[nodiscard]] std::int64_t calls() const { return interpreter_.calls(); }

 private:
  void run_watched(StepProbe& probe, const Executor& on);

  const Model& model_;
  Interpreter interpreter_{Nanoseconds{0}};  // counts calls, at no cost
  std::unique_ptr<Operations> operations_;
  Arena parameters_;
  Arena gradients_;
  Arena buffers_;
  const ConstTensorList weights_;
  ModuleState state_;
  SyntheticBatch batch_;
  std::unique_ptr<Buffer> inputs_;
  std::unique_ptr<Buffer> targets_;
  std::unique_ptr<Buffer> loss_;
  std::unique_ptr<Optimizer> optimizer_;
  Bytes activation_bytes_;
  std::unique_ptr<Activations> activations_;
  std::unique_ptr<Stream> stream_;  // last: the stream ends before the memory that its work uses
};

}  // namespace tandem::bench
