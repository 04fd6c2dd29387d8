// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/observed_operations.h"

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

}  // namespace tandem
