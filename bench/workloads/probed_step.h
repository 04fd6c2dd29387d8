// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "bench/workloads/step_work.h"
#include "common/data/synthetic_batch.h"
#include "common/kernels/each_operation.h"
#include "common/model/model.h"
#include "common/optim/optimizer.h"
#include "common/parallel/replica.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// The facts known of an operation before the operation is enqueued.
struct WatchedOperation {
  const void* parameter = nullptr;  // parameter that the operation's layer uses; null: none
  double flops = 0;                 // FLOPs of matrix products and convolutions
};

class OperationWatcher {
 public:
  OperationWatcher() = default;
  OperationWatcher(const OperationWatcher&) = delete;
  OperationWatcher& operator=(const OperationWatcher&) = delete;
  virtual ~OperationWatcher() = default;

  virtual void before(Stream& stream, const WatchedOperation& operation) = 0;
};

// A device's operations; a watcher is told of each operation before the operation is enqueued.
// Narrow copies of parameters count as the parameters themselves. Device operations and watcher
// outlive this object.
class WatchedOperations final : public EachOperationHandedOn<WatchedOperations> {
 public:
  WatchedOperations(Operations& operations, OperationWatcher& watcher)
      : EachOperationHandedOn(operations), watcher_(watcher) {}

  template <class Op>
  void take(Stream& stream, const Op& op, const char* /*name*/) {
    watcher_.before(stream, {.parameter = original(parameter_of(op)),
                             .flops = static_cast<double>(flops_of(op))});
    note(op);
    hand_on(stream, op);
  }

 private:
  template <class Op>
  static const void* parameter_of(const Op& /*op*/) {
    return nullptr;
  }
  static const void* parameter_of(const LinearForward& op) { return op.weight.data(); }
  static const void* parameter_of(const EmbeddingForward& op) { return op.tokens.data(); }
  static const void* parameter_of(const LayerNormForward& op) { return op.gain.data(); }
  static const void* parameter_of(const ConvolutionForward& op) { return op.weight.data(); }
  static const void* parameter_of(const BatchNormForward& op) { return op.gain.data(); }

  template <class Op>
  void note(const Op& /*op*/) {}
  void note(const Convert& op) { copies_[op.out.data()] = op.in.data(); }

  [[nodiscard]] const void* original(const void* parameter) const {
    const auto copy = copies_.find(parameter);
    return copy == copies_.end() ? parameter : copy->second;
  }

  OperationWatcher& watcher_;
  std::map<const void*, const void*> copies_;  // from narrow copy to parameter
};

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
