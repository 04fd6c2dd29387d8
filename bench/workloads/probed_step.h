// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "bench/workloads/step_work.h"
#include "common/kernels/each_operation.h"
#include "common/model/model.h"
#include "common/optim/optimizer.h"
#include "common/parallel/replica.h"
#include "common/parallel/shards.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// The facts known of an operation before the operation is enqueued.
struct WatchedOperation {
  const void* parameter = nullptr;  // parameter that the operation's layer uses; null: none
  double flops = 0;                 // FLOPs of matrix products and convolutions
};

// A probe that is told of forward and backward, operation by operation, while a step is enqueued.
class StepProbe : public GradientSink {
 public:
  // Called before the first operation of a pass, and after the last.
  virtual void begin_forward(Stream&) {}
  virtual void end_forward(Stream&) {}
  virtual void begin_backward(Stream&) {}
  virtual void end_backward(Stream&) {}

  // Called before each operation is enqueued.
  virtual void before(Stream&, const WatchedOperation&) {}

  void gradient_ready(int /*segment*/) override {}
};

// A device's operations; a probe is told of each operation before the operation is enqueued. Narrow
// copies of parameters count as the parameters themselves. Device operations and probe outlive this
// object.
class WatchedOperations final : public EachOperationHandedOn<WatchedOperations> {
 public:
  WatchedOperations(Operations& operations, StepProbe& probe)
      : EachOperationHandedOn(operations), probe_(probe) {}

  template <class Op>
  void take(Stream& stream, const Op& op, const char* /*name*/) {
    probe_.before(stream, {.parameter = original(parameter_of(op)),
                           .flops = static_cast<double>(flops_of(op))});
    note(op);
    operations().enqueue(stream, op);
  }

 private:
  template <class Op>
  void note(const Op& /*op*/) {}
  void note(const Convert& op) { copies_[op.out.data()] = op.in.data(); }

  [[nodiscard]] const void* original(const void* parameter) const {
    const auto copy = copies_.find(parameter);
    return copy == copies_.end() ? parameter : copy->second;
  }

  StepProbe& probe_;
  std::map<const void*, const void*> copies_;  // from narrow copy to parameter
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
  Interpreter interpreter_{DispatchCosts{}};  // counts calls, at no cost
  std::unique_ptr<Operations> operations_;
  Arena parameters_;
  Arena gradients_;
  Arena buffers_;
  const ConstTensorList weights_;
  ModuleState state_;
  LocalBatch batch_;
  std::unique_ptr<Buffer> loss_;
  std::unique_ptr<Optimizer> optimizer_;
  Bytes activation_bytes_;
  std::unique_ptr<Activations> activations_;
  std::unique_ptr<Stream> stream_;  // last: the stream ends before the memory that its work uses
};

}  // namespace tandem::bench
