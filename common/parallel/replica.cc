// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/replica.h"

#include <algorithm>
#include <utility>

#include "common/runtime/copy.h"

namespace tandem {

ObservedOperations::ObservedOperations(Operations& operations, Device& device,
                                       const Parameters& parameters,
                                       const std::vector<WorkObserver*>& observers)
    : EachOperationHandedOn(operations), device_(device), observers_(observers) {
  for (const auto& segment : parameters.layout.segments()) {
    segments_[parameters.tensors[layers_.size()].data()] = layers_.size();
    layers_.push_back(segment.name.substr(0, segment.name.rfind('.')));
  }
}

void ObservedOperations::set_gradients(const TensorList& gradients) {
  gradients_.clear();
  for (std::size_t i = 0; i < gradients.size(); ++i) gradients_[gradients[i].data()] = i;
}

void ObservedOperations::note(const Convert& op) {
  for (const auto& [in, out] : op.tensors) {
    const auto parameter = segments_.find(in.data());
    if (parameter != segments_.end()) segments_[out.data()] = parameter->second;
  }
}

std::string_view ObservedOperations::layer_of(const void* parameter) const {
  const auto found = segments_.find(parameter);
  if (found != segments_.end()) return layers_[found->second];
  const auto gradient = gradients_.find(parameter);
  return gradient != gradients_.end() ? std::string_view(layers_[gradient->second]) : "";
}

namespace {

// Charges the nodes that lead to a gradient before the work of that gradient, and the node that
// keeps the gradient behind it. Models do not say which call leads to which gradient: the nodes of
// calls are spread evenly over the gradients.
class NodesOfGradients final : public GradientSink {
 public:
  struct Count {
    int calls;
    int gradients;
  };
  NodesOfGradients(Interpreter& autograd, Stream& stream, Count count, GradientSink& next)
      : autograd_(autograd), stream_(stream), count_(count), next_(next) {
    charge(share_of(0));
  }

  void gradient_ready(int segment) override {
    charge(1);
    next_.gradient_ready(segment);
    if (++ready_ < count_.gradients) charge(share_of(ready_));
  }

 private:
  void charge(int nodes) { dispatch(autograd_, stream_, DispatchKind::kAutograd, nodes); }

  // The nodes of calls before gradient `index`, which sum to all calls.
  [[nodiscard]] int share_of(int index) const {
    const auto until = [&](std::int64_t gradients) {
      return count_.calls * gradients / std::max(1, count_.gradients);
    };
    return static_cast<int>(until(index + 1) - until(index));
  }

  Interpreter& autograd_;
  Stream& stream_;
  const Count count_;
  GradientSink& next_;
  int ready_ = 0;
};

std::unique_ptr<Operations> operations_for(const Model& model, Device& device,
                                           const TrainingOptions& options) {
  check_runs_on(model, device.id().backend);
  return make_operations(device, options.precision, options.images);
}

std::unique_ptr<ObservedOperations> observed_where_wanted(
    Operations& operations, Device& device, const ObservedOperations::Parameters& parameters,
    const std::vector<WorkObserver*>& observers) {
  if (observers.empty()) return nullptr;
  return std::make_unique<ObservedOperations>(operations, device, parameters, observers);
}

}  // namespace

Replica::Replica(Device& device, const Model& model, std::int64_t batch,
                 const TrainingOptions& options, OutputType output_type, std::optional<Arena> given)
    : device_(device),
      model_(model),
      batch_(batch),
      work_observers_(work_observers_of(options.phases.observers)),
      operations_(operations_for(model, device, options)),
      parameters_(given ? std::move(*given) : make_arena(device, model.layout())),
      weights_(as_const(parameters_.tensors)),
      observed_(
          observed_where_wanted(*operations_, device, {model.layout(), weights_}, work_observers_)),
      buffers_(make_arena(device, model.buffers())),
      state_{.buffers = buffers_.tensors},
      activations_(model.make_activations(device, batch, options.precision, output_type)),
      autograd_(options.interpreter.costs.only(Dispatcher::kAutograd)),
      timer_(device, options.phases),
      stream_(device.make_stream(StreamPriority::kNormal)) {}

// Zeros are valid input to every model, also as class 0. The zeros lie in the weights' memory, so
// that the device's high-water mark is that of training.
void Replica::prime(const TensorList& gradients) {
  if (device_.id().backend != Backend::kCuda) return;
  const std::int64_t count = batch_ * model_.input_width();
  if (count <= parameters_.flat.size()) {
    return enqueue_priming(parameters_.flat.subspan(0, count), gradients);
  }
  const auto zeros = device_.allocate(bytes_of<float>(count));
  enqueue_zero(*stream_, zeros->as<float>());
  enqueue_priming(zeros->as<float>(), gradients);
}

void Replica::enqueue_priming(Span<const float> input, const TensorList& gradients) {
  enqueue_zero(*stream_, parameters_.flat);
  ModuleState state{.buffers = buffers_.tensors};
  IgnoreGradients nobody;
  const Executor unobserved{*operations_, *stream_};
  model_.forward(unobserved, weights_, state, input, *activations_);
  enqueue_zero_bytes(*stream_, output_gradient().bytes());
  model_.backward(unobserved, weights_, input, *activations_, gradients, nobody);
  for (const Span<float>& gradient : gradients) enqueue_zero(*stream_, gradient);
  enqueue_zero(*stream_, buffers_.flat);
  stream_->synchronize();
}

void Replica::initialise(std::uint64_t seed, Distribution distribution) {
  const Executor unobserved{*operations_, *stream_};
  model_.initialise(unobserved, parameters_.tensors, seed, distribution);
  model_.initialise_buffers(unobserved, buffers_.tensors);
}

void Replica::forward(Span<const float> input, Interpreter& interpreter) {
  forward_calls_ = 0;
  model_.forward({operations(), *stream_, &interpreter, &forward_calls_}, weights_, state_, input,
                 *activations_);
}

void Replica::compute_loss(Span<const float> targets, Span<float> loss, Interpreter& interpreter) {
  dispatch(interpreter, *stream_, DispatchKind::kCall);
  enqueue_loss(operations(), *stream_, model_.objective(),
               {.prediction = output(),
                .target = targets,
                .gradient = output_gradient(),
                .loss = loss,
                .padding = output_padding()});
}

void Replica::backward(Span<const float> input, const TensorList& gradients, GradientSink& sink) {
  if (observed_) observed_->set_gradients(gradients);
  NodesOfGradients nodes(autograd_, *stream_, {forward_calls_, model_.layout().size()}, sink);
  model_.backward(on(), weights_, input, *activations_, gradients, nodes);
}

}  // namespace tandem
