// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "common/kernels/operations.h"
#include "common/model/parameter_layout.h"
#include "common/runtime/interpreter.h"

namespace tandem {

enum class ObjectiveKind { kMeanSquaredError, kCrossEntropy };

// The objective of training: a mean over all elements, or over all rows, of the batch. Each sample
// has the same number of elements or rows, so that the mean over a batch is the mean of the parts'
// means, weighted by the parts' samples.
struct Objective {
  ObjectiveKind kind = ObjectiveKind::kMeanSquaredError;
  // The number of targets per sample. Squared error: as many as the model's outputs. Cross-entropy:
  // one class for each row of `classes` outputs.
  std::int64_t target_width = 0;
  std::int64_t classes = 0;  // cross-entropy only
};

// The operands of an objective's loss and of its backward, which needs the gradient of the loss and
// no loss. An empty gradient asks for the loss alone.
struct LossOperands {
  ConstAnySpan prediction;
  Span<const float> target;
  AnySpan gradient{};                 // with cross-entropy, may be the prediction
  Span<float> loss{};                 // one element
  Span<const float> loss_gradient{};  // one element, of the backward alone
  std::int64_t padding = 0;           // with cross-entropy: as CrossEntropyLoss's
};

// Enqueues the objective's loss with its gradient, or the gradient alone, given the gradient of the
// loss.
void enqueue_loss(Operations& operations, Stream& stream, const Objective& objective,
                  const LossOperands& operands);

// An observer of each gradient in the order in which backward makes gradients final.
class GradientSink : boost::noncopyable {
 public:
  virtual ~GradientSink() = default;

  // All work that makes segment `segment`'s gradient is enqueued.
  virtual void gradient_ready(int segment) = 0;
};

// A sink for callers that wait for all of backward.
class IgnoreGradients final : public GradientSink {
 public:
  void gradient_ready(int) override {}
};

// The type of a model's output and its gradient.
enum class OutputType {
  kLayers,  // the layers' own, which a loss beside the replica takes as it is
  kFp32,    // cast up from the layers' result, and down for the layers: to be gathered or divided
};

// The tensors that a model keeps between forward and backward for one batch on one device, in the
// precision and with the type of output that the object was made for. Under an objective whose loss
// may write its gradient over the prediction, output() and output_gradient() may be the same
// memory.
class Activations : boost::noncopyable {
 public:
  virtual ~Activations() = default;

  [[nodiscard]] virtual AnySpan output() = 0;           // (batch, output_width), and its padding
  [[nodiscard]] virtual AnySpan output_gradient() = 0;  // same shape; the loss writes it

  // Elements behind each row of classes: zeros, in the gradient too.
  [[nodiscard]] virtual std::int64_t output_padding() const { return 0; }
};

// The state that forward may write besides its output: one module's, and so one replica's.
struct ModuleState {
  TensorList buffers{};  // buffers by segment of Model::buffers()
  // Plain attributes of the Python object, in host memory, written when forward is called.
  std::map<std::string, double> attributes{};
};

// One stream's means of computing on a device.
struct Executor {
  Operations& operations;
  Stream& stream;
  Interpreter* interpreter = nullptr;  // the dispatching thread's; null: nothing is modelled
  int* calls = nullptr;                // counts the calls charged, if set

  template <class Op>
  void enqueue(const Op& op) const {
    operations.enqueue(stream, op);
  }
};

// Charges the interpreter, where there is one, for the calls of a kind that torch would dispatch
// for the work enqueued next.
void charge(const Executor& on, int calls = 1, DispatchKind kind = DispatchKind::kCall);

// Enqueues the cast of `from` to the type of `to`, unless both are the same memory.
void enqueue_cast(const Executor& on, ConstAnySpan from, AnySpan to);

// A network: its parameters, and how to enqueue forward and backward. Parameters, their gradients
// and the input are fp32. In bf16 forward casts each parameter and the input once to copies that
// the activations hold, as torch.autocast does; casts are no calls from Python. Immutable: replicas
// on several devices and threads share one object.
class Model : boost::noncopyable {
 public:
  virtual ~Model() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual const ParameterLayout& layout() const = 0;

  // Tensors that are not parameters: forward may write buffers, and no gradients are made for
  // buffers. None by default.
  [[nodiscard]] virtual const ParameterLayout& buffers() const;

  // Enqueues the buffers' initial values other than zero; the buffers are zero before this call.
  virtual void initialise_buffers(Executor on, const TensorList& buffers) const;

  // Whether the model needs operations on images, which not every back end has (lack_of_images).
  [[nodiscard]] virtual bool needs_images() const { return false; }

  // Whether a sample's output depends on the other samples in its shard, as with batch
  // normalisation: training on shards is then another computation than training on the whole batch.
  [[nodiscard]] virtual bool depends_on_shard() const { return false; }

  // The number of modules of the equivalent torch module, containers and the root included.
  [[nodiscard]] virtual int module_count() const = 0;

  [[nodiscard]] virtual std::int64_t input_width() const = 0;
  [[nodiscard]] virtual std::int64_t output_width() const = 0;

  // Whether DataParallel gathers outputs in the layers' own type, as torch does, in place of fp32.
  [[nodiscard]] virtual bool gathers_as_layers() const { return false; }

  // The input holds whole numbers below this number; 0, the default: the input is continuous.
  [[nodiscard]] virtual std::int64_t input_classes() const { return 0; }

  // The objective of training; by default squared error.
  [[nodiscard]] virtual Objective objective() const { return {.target_width = output_width()}; }

  // Floating-point operations of forward and backward per sample, matrix products only.
  [[nodiscard]] virtual double flops_per_sample() const = 0;

  // Enqueues the initial parameters for `seed`: the same on every device and machine.
  virtual void initialise(Executor on, const TensorList& parameters, std::uint64_t seed,
                          Distribution distribution) const = 0;

  [[nodiscard]] virtual std::unique_ptr<Activations> make_activations(
      Device& device, std::int64_t batch, Precision precision, OutputType output_type) const = 0;

  // Enqueues forward on `input` (batch, input_width), which must stay until backward is done.
  // Charges the interpreter for each call.
  virtual void forward(Executor on, const ConstTensorList& parameters, ModuleState& state,
                       Span<const float> input, Activations& activations) const = 0;

  // Enqueues backward from activations.output_gradient(); overwrites `gradients`, by segment.
  virtual void backward(Executor on, const ConstTensorList& parameters, Span<const float> input,
                        Activations& activations, const TensorList& gradients,
                        GradientSink& sink) const = 0;
};

// Throws a usage error with the reason where the back end lacks operations that the model needs.
void check_runs_on(const Model& model, Backend backend);

}  // namespace tandem
