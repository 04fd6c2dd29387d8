// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "common/model/objective.h"
#include "common/model/parameter_layout.h"
#include "common/runtime/interpreter.h"

namespace tandem {

// Is told of each gradient in the order in which backward makes them final.
class GradientSink {
 public:
  GradientSink() = default;
  GradientSink(const GradientSink&) = delete;
  GradientSink& operator=(const GradientSink&) = delete;
  virtual ~GradientSink() = default;

  // All work that makes segment `segment`'s gradient is enqueued.
  virtual void gradient_ready(int segment) = 0;
};

// For those who wait for all of backward.
class IgnoreGradients final : public GradientSink {
 public:
  void gradient_ready(int) override {}
};

// What a model keeps between forward and backward for one batch on one device, in the precision
// that it was made for. Its ends are fp32 in each: the output is cast up from what the layers
// computed, the gradient cast down to it. Under an objective whose loss may write its gradient over
// the prediction, output() and output_gradient() may be the same memory.
class Activations {
 public:
  Activations() = default;
  Activations(const Activations&) = delete;
  Activations& operator=(const Activations&) = delete;
  virtual ~Activations() = default;

  [[nodiscard]] virtual Span<float> output() = 0;           // (batch, output_width)
  [[nodiscard]] virtual Span<float> output_gradient() = 0;  // same shape; the loss writes it
};

// What forward may write to besides its output: one module's, so one replica's.
struct ModuleState {
  TensorList buffers{};  // by segment of Model::buffers()
  // Plain attributes of the Python object, in host memory, written when forward is called.
  std::map<std::string, double> attributes{};
};

// One stream's means of computing on a device.
struct Executor {
  Operations& operations;
  Stream& stream;
  Interpreter* interpreter = nullptr;  // of the dispatching thread; none: nothing is modelled
};

// Takes the interpreter, where there is one, for the calls that torch would dispatch for what is
// enqueued next.
void charge(const Executor& on, int calls = 1);

// A network by its parameters and how to enqueue forward and backward. Parameters, their gradients
// and the input are fp32. In bf16 forward casts each parameter and the input to copies that the
// activations hold, once, as torch.autocast does; casts are no calls from Python. Immutable:
// replicas on several devices and threads share one.
class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual const ParameterLayout& layout() const = 0;

  // Tensors that are no parameters: forward may write them, nobody makes gradients for them. None
  // by default.
  [[nodiscard]] virtual const ParameterLayout& buffers() const;

  // Enqueues what the buffers start as where that is not zero, which they are when this is called.
  virtual void initialise_buffers(Executor on, const TensorList& buffers) const;

  // Whether it needs operations on images, which not every back end has (lack_of_images).
  [[nodiscard]] virtual bool needs_images() const { return false; }

  // Whether a sample's output depends on which others are in its shard, as batch normalisation has
  // it: training on shards is then another computation than training on the whole batch.
  [[nodiscard]] virtual bool depends_on_shard() const { return false; }

  // Modules of the equivalent torch module, containers and the root included.
  [[nodiscard]] virtual int module_count() const = 0;

  [[nodiscard]] virtual std::int64_t input_width() const = 0;
  [[nodiscard]] virtual std::int64_t output_width() const = 0;

  // Whole numbers below it are what the input holds; 0: it is continuous. By default continuous.
  [[nodiscard]] virtual std::int64_t input_classes() const { return 0; }

  // What its output is trained for; by default squared error.
  [[nodiscard]] virtual Objective objective() const { return {.target_width = output_width()}; }

  // Floating-point operations of forward and backward per sample, matrix products only.
  [[nodiscard]] virtual double flops_per_sample() const = 0;

  // Enqueues the initial parameters for `seed`: the same on every device and machine.
  virtual void initialise(Executor on, const TensorList& parameters, std::uint64_t seed,
                          Distribution distribution) const = 0;

  [[nodiscard]] virtual std::unique_ptr<Activations> make_activations(
      Device& device, std::int64_t batch, Precision precision) const = 0;

  // Enqueues forward on `input` (batch, input_width), which stays until backward is done. Charges
  // the interpreter for each call.
  virtual void forward(Executor on, const ConstTensorList& parameters, ModuleState& state,
                       Span<const float> input, Activations& activations) const = 0;

  // Enqueues backward from activations.output_gradient(); overwrites `gradients`, by segment.
  virtual void backward(Executor on, const ConstTensorList& parameters, Span<const float> input,
                        Activations& activations, const TensorList& gradients,
                        GradientSink& sink) const = 0;
};

// A usage error that says why where the back end lacks operations that the model needs.
void check_runs_on(const Model& model, Backend backend);

}  // namespace tandem
