// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/kernels/operations.h"
#include "common/model/model.h"
#include "common/model/parameter_layout.h"
#include "common/parallel/strategy.h"
#include "common/runtime/device.h"
#include "common/trace/step_observer.h"

namespace tandem {

// One tensor per parameter, in one piece of device memory.
struct Arena {
  std::unique_ptr<Buffer> buffer;
  Span<float> flat;
  TensorList tensors;  // tensors by segment
};

// Allocates an arena from a Device, or collectively from a Communicator.
template <class Allocator>
[[nodiscard]] Arena make_arena(Allocator& allocator, const ParameterLayout& layout) {
  Arena arena;
  const auto bytes = layout.arena_count() * static_cast<std::int64_t>(sizeof(float));
  arena.buffer = allocator.allocate(Bytes{bytes});
  arena.flat = arena.buffer->as<float>();
  arena.tensors = layout.views(arena.flat);
  return arena;
}

// A replica's operations. Around each operation observers get its name and layer: an operation
// on a layer's parameters, on narrow copies of them or on their gradients belongs to the layer, by
// the parameters' name without its last part. All other operations belong to no layer: attention,
// ReLU's gradients, losses, casts, and an optimizer's on all parameters at once.
class ObservedOperations final : public EachOperationHandedOn<ObservedOperations> {
 public:
  struct Parameters {
    const ParameterLayout& layout;
    const ConstTensorList& tensors;  // tensors by segment
  };

  // All arguments must outlive this object.
  ObservedOperations(Operations& operations, Device& device, const Parameters& parameters,
                     const std::vector<WorkObserver*>& observers);

  // Sets where backward makes gradients from now on, by segment: gradients move when buckets are
  // rebuilt.
  void set_gradients(const TensorList& gradients);

  template <class Op>
  void take(Stream& stream, const Op& op, const char* name) {
    enqueue_observed(observers_, device_, stream,
                     {.name = name, .layer = layer_of(parameter_of(op))},
                     [&] { operations().enqueue(stream, op); });
    note(op);
  }

 private:
  template <class Op>
  void note(const Op& /*op*/) {}
  // Notes narrow copies, each of which belongs to its parameter's layer.
  void note(const Convert& op);

  [[nodiscard]] std::string_view layer_of(const void* parameter) const;

  Device& device_;
  const std::vector<WorkObserver*>& observers_;
  std::vector<std::string> layers_;               // layers by segment
  std::map<const void*, std::size_t> segments_;   // segments of parameters and their copies
  std::map<const void*, std::size_t> gradients_;  // segments of gradients
};

// One device's copy of the model: weights, activations for the copy's share of the batch, and the
// means to compute. Knows no other device.
class Replica {
 public:
  // Makes a replica for `batch` samples; uses only the options of phases, precision and
  // interpreter. `given`: parameters that lie elsewhere on the device, in memory of a communicator.
  Replica(Device& device, const Model& model, std::int64_t batch, const TrainingOptions& options,
          OutputType output_type = OutputType::kLayers, std::optional<Arena> given = std::nullopt);

  [[nodiscard]] Device& device() { return device_; }
  [[nodiscard]] Stream& stream() { return *stream_; }
  [[nodiscard]] Operations& operations() {
    return observed_ ? static_cast<Operations&>(*observed_) : *operations_;
  }
  // The result of Operations::implementations().
  [[nodiscard]] std::map<std::string, std::string> implementations() const {
    return operations_->implementations();
  }
  [[nodiscard]] PhaseTimer& timer() { return timer_; }
  // The device's times since the last call; synchronise the stream first.
  [[nodiscard]] DeviceTimes collect_times() { return {device_.id().index, timer_.collect()}; }
  [[nodiscard]] const Arena& parameters() const { return parameters_; }
  [[nodiscard]] const Arena& buffers() const { return buffers_; }
  [[nodiscard]] ModuleState& state() { return state_; }
  [[nodiscard]] AnySpan output() { return activations_->output(); }
  [[nodiscard]] AnySpan output_gradient() { return activations_->output_gradient(); }
  [[nodiscard]] std::int64_t output_padding() const { return activations_->output_padding(); }

  // Call before the replica has weights. On GPUs, runs a forward and a backward on zeros and waits
  // for both: libraries load their kernels and choose algorithms, and operations take scratch
  // memory, when a shape first occurs; each such call may wait for all work on the GPUs, and so for
  // ever behind a collective that waits for a peer's launch. Leaves parameters, buffers and
  // `gradients` zero, and is no step to timers, observers and interpreters. On the host it does
  // nothing.
  void prime(const TensorList& gradients);

  // The calls below enqueue. `input` must stay until backward is done; `interpreter` is the calling
  // thread's.
  void initialise(std::uint64_t seed, Distribution distribution);
  void forward(Span<const float> input, Interpreter& interpreter);
  // Enqueues the model's objective for the output and `targets`, and its gradient; `loss` is one
  // element.
  void compute_loss(Span<const float> targets, Span<float> loss, Interpreter& interpreter);
  void backward(Span<const float> input, const TensorList& gradients, GradientSink& sink);

  // The modelled time of the device's autograd thread, which holds no interpreter. Backward charges
  // its nodes there: one for each call of the last forward, one for each parameter.
  [[nodiscard]] Interpreter& autograd() { return autograd_; }
  // Around backward: the thread starts behind its caller's calls, and the caller waits for the
  // thread. One caller of several replicas begins all backwards before one ends.
  void begin_backward(const Interpreter& caller) { autograd_.catch_up_with(caller); }
  void end_backward(Interpreter& caller) const { caller.catch_up_with(autograd_); }

 private:
  [[nodiscard]] Executor on() { return {operations(), *stream_}; }
  void enqueue_priming(Span<const float> input, const TensorList& gradients);

  Device& device_;
  const Model& model_;
  const std::int64_t batch_;
  const std::vector<WorkObserver*> work_observers_;
  const std::unique_ptr<Operations> operations_;
  const Arena parameters_;
  const ConstTensorList weights_;
  const std::unique_ptr<ObservedOperations> observed_;  // set where an observer watches work
  const Arena buffers_;
  ModuleState state_;
  const std::unique_ptr<Activations> activations_;
  Interpreter autograd_;
  int forward_calls_ = 0;  // of the last forward
  PhaseTimer timer_;
  const std::unique_ptr<Stream> stream_;  // last: ends its work before the operands go
};

}  // namespace tandem
