// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/replica.h"

namespace tandem {

Replica::Replica(Device& device, const Model& model, std::int64_t batch, PhaseTiming phases)
    : device_(device),
      model_(model),
      operations_(make_operations(device)),
      parameters_(make_arena(device, model.layout())),
      weights_(as_const(parameters_.tensors)),
      buffers_(make_arena(device, model.buffers())),
      state_{.buffers = buffers_.tensors},
      activations_(model.make_activations(device, batch)),
      timer_(device, phases),
      stream_(device.make_stream(StreamPriority::kNormal)) {}

void Replica::initialise(std::uint64_t seed, Distribution distribution) {
  model_.initialise(on(), parameters_.tensors, seed, distribution);
}

void Replica::forward(Span<const float> input) {
  model_.forward(on(), weights_, state_, input, *activations_);
}

void Replica::backward(Span<const float> input, const TensorList& gradients, GradientSink& sink) {
  model_.backward(on(), weights_, input, *activations_, gradients, sink);
}

}  // namespace tandem
