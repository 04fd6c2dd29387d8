// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/replica.h"

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
  const auto parameter = segments_.find(op.in.data());
  if (parameter != segments_.end()) segments_[op.out.data()] = parameter->second;
}

std::string_view ObservedOperations::layer_of(const void* parameter) const {
  const auto found = segments_.find(parameter);
  if (found != segments_.end()) return layers_[found->second];
  const auto gradient = gradients_.find(parameter);
  return gradient != gradients_.end() ? std::string_view(layers_[gradient->second]) : "";
}

namespace {

// Tells observers of each gradient before the sink may hand the gradient on.
class ObservedGradients final : public GradientSink {
 public:
  struct Where {
    Device& device;
    Stream& stream;
  };
  ObservedGradients(Where where, const std::vector<StepObserver*>& observers,
                    const TensorList& gradients, GradientSink& next)
      : where_(where), observers_(observers), gradients_(gradients), next_(next) {}

  void gradient_ready(int segment) override {
    const Span<float> gradient = gradients_.at(static_cast<std::size_t>(segment));
    for (StepObserver* const observer : observers_) {
      observer->gradient_ready(where_.device, where_.stream, segment, gradient);
    }
    next_.gradient_ready(segment);
  }

 private:
  const Where where_;
  const std::vector<StepObserver*>& observers_;
  const TensorList& gradients_;
  GradientSink& next_;
};

std::unique_ptr<Operations> operations_for(const Model& model, Device& device,
                                           Precision precision) {
  check_runs_on(model, device.id().backend);
  return make_operations(device, precision);
}

std::unique_ptr<ObservedOperations> observed_where_wanted(
    Operations& operations, Device& device, const ObservedOperations::Parameters& parameters,
    const std::vector<WorkObserver*>& observers) {
  if (observers.empty()) return nullptr;
  return std::make_unique<ObservedOperations>(operations, device, parameters, observers);
}

}  // namespace

Replica::Replica(Device& device, const Model& model, std::int64_t batch,
                 const TrainingOptions& options, std::optional<Arena> given)
    : device_(device),
      model_(model),
      batch_(batch),
      observers_(options.phases.observers),
      work_observers_(work_observers_of(observers_)),
      operations_(operations_for(model, device, options.precision)),
      parameters_(given ? std::move(*given) : make_arena(device, model.layout())),
      weights_(as_const(parameters_.tensors)),
      observed_(
          observed_where_wanted(*operations_, device, {model.layout(), weights_}, work_observers_)),
      buffers_(make_arena(device, model.buffers())),
      state_{.buffers = buffers_.tensors},
      activations_(model.make_activations(device, batch, options.precision)),
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
  enqueue_zero(*stream_, output_gradient());
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
  model_.forward({operations(), *stream_, &interpreter}, weights_, state_, input, *activations_);
}

void Replica::compute_loss(Span<const float> targets, Span<float> loss, Interpreter& interpreter) {
  dispatch(interpreter, *stream_);
  enqueue_loss(
      operations(), *stream_, model_.objective(),
      {.prediction = output(), .target = targets, .gradient = output_gradient(), .loss = loss});
}

void Replica::backward(Span<const float> input, const TensorList& gradients, GradientSink& sink) {
  if (observed_) observed_->set_gradients(gradients);
  ObservedGradients observed({device_, *stream_}, observers_, gradients, sink);
  model_.backward(on(), weights_, input, *activations_, gradients, observed);
}

}  // namespace tandem
