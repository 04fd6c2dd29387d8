// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/kernels/each_operation.h"
#include "common/model/parameter_layout.h"
#include "common/trace/step_observer.h"

namespace tandem {

// A replica's operations. Around each operation observers are told its name and layer: an operation
// on a layer's parameters, on narrow copies of them or on their gradients belongs to the layer, by
// the parameters' name without its last part. All other operations belong to no layer: attention,
// activations' gradients, losses, and an optimizer's on all parameters at once.
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
                     [&] { hand_on(stream, op); });
    note(op);
  }

 private:
  // The parameter of an operation, the parameter's copy or its gradient; null where there is none.
  template <class Op>
  static const void* parameter_of(const Op& /*op*/) {
    return nullptr;
  }
  static const void* parameter_of(const LinearForward& op) { return op.weight.data(); }
  static const void* parameter_of(const LinearBackwardInput& op) { return op.weight.data(); }
  static const void* parameter_of(const LinearBackwardWeight& op) { return op.dweight.data(); }
  static const void* parameter_of(const EmbeddingForward& op) { return op.tokens.data(); }
  static const void* parameter_of(const EmbeddingBackward& op) { return op.dtokens.data(); }
  static const void* parameter_of(const LayerNormForward& op) { return op.gain.data(); }
  static const void* parameter_of(const LayerNormBackward& op) { return op.gain.data(); }
  static const void* parameter_of(const ConvolutionForward& op) { return op.weight.data(); }
  static const void* parameter_of(const ConvolutionBackwardInput& op) { return op.weight.data(); }
  static const void* parameter_of(const ConvolutionBackwardWeight& op) { return op.dweight.data(); }
  static const void* parameter_of(const BatchNormForward& op) { return op.gain.data(); }
  static const void* parameter_of(const BatchNormBackward& op) { return op.gain.data(); }

  template <class Op>
  void note(const Op& /*op*/) {}
  // Notes a narrow copy, which belongs to its parameter's layer.
  void note(const Convert& op);

  [[nodiscard]] std::string_view layer_of(const void* parameter) const;

  Device& device_;
  const std::vector<WorkObserver*>& observers_;
  std::vector<std::string> layers_;               // layers by segment
  std::map<const void*, std::size_t> segments_;   // segments of parameters and their copies
  std::map<const void*, std::size_t> gradients_;  // segments of gradients
};

}  // namespace tandem
