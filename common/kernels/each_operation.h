// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/kernels/operations.h"

namespace tandem {

template <class Op>
concept ImageOperation = requires(ImageOperations& images, Stream& stream, const Op& op) {
  images.enqueue(stream, op);
};

// Operations that are all passed to one template of `Derived`, with a literal name, such as
// "linear_forward" for LinearForward:
//   template <class Op> void take(Stream& stream, const Op& op, const char* name);
// Operations on images are taken too where `Derived` offers images(), which then returns `this`.
template <class Derived>
class EachOperation : public Operations, protected ImageOperations {
 public:
  void enqueue(Stream& s, const LinearForward& op) final { pass(s, op, "linear_forward"); }
  void enqueue(Stream& s, const LinearBackwardInput& op) final {
    pass(s, op, "linear_backward_input");
  }
  void enqueue(Stream& s, const LinearBackwardWeight& op) final {
    pass(s, op, "linear_backward_weight");
  }
  void enqueue(Stream& s, const ReluBackward& op) final { pass(s, op, "relu_backward"); }
  void enqueue(Stream& s, const GeluBackward& op) final { pass(s, op, "gelu_backward"); }
  void enqueue(Stream& s, const EmbeddingForward& op) final { pass(s, op, "embedding_forward"); }
  void enqueue(Stream& s, const EmbeddingBackward& op) final { pass(s, op, "embedding_backward"); }
  void enqueue(Stream& s, const LayerNormForward& op) final { pass(s, op, "layer_norm_forward"); }
  void enqueue(Stream& s, const LayerNormBackward& op) final { pass(s, op, "layer_norm_backward"); }
  void enqueue(Stream& s, const AttentionForward& op) final { pass(s, op, "attention_forward"); }
  void enqueue(Stream& s, const AttentionBackward& op) final { pass(s, op, "attention_backward"); }
  void enqueue(Stream& s, const MseLoss& op) final { pass(s, op, "mse_loss"); }
  void enqueue(Stream& s, const MseLossBackward& op) final { pass(s, op, "mse_loss_backward"); }
  void enqueue(Stream& s, const CrossEntropyLoss& op) final { pass(s, op, "cross_entropy_loss"); }
  void enqueue(Stream& s, const CrossEntropyLossBackward& op) final {
    pass(s, op, "cross_entropy_loss_backward");
  }
  void enqueue(Stream& s, const WeightedSum& op) final { pass(s, op, "weighted_sum"); }
  void enqueue(Stream& s, const SgdUpdate& op) final { pass(s, op, "sgd_update"); }
  void enqueue(Stream& s, const AdamUpdate& op) final { pass(s, op, "adam_update"); }
  void enqueue(Stream& s, const FillRandom& op) final { pass(s, op, "fill_random"); }
  void enqueue(Stream& s, const Fill& op) final { pass(s, op, "fill"); }
  void enqueue(Stream& s, const Scale& op) final { pass(s, op, "scale"); }
  void enqueue(Stream& s, const Add& op) final { pass(s, op, "add"); }
  void enqueue(Stream& s, const AddScalar& op) final { pass(s, op, "add_scalar"); }
  void enqueue(Stream& s, const Subtract& op) final { pass(s, op, "subtract"); }
  void enqueue(Stream& s, const Convert& op) final { pass(s, op, "convert"); }
  void enqueue(Stream& s, const Orthogonalise& op) final { pass(s, op, "orthogonalise"); }
  void enqueue(Stream& s, const ConvolutionForward& op) final {
    pass(s, op, "convolution_forward");
  }
  void enqueue(Stream& s, const ConvolutionBackwardInput& op) final {
    pass(s, op, "convolution_backward_input");
  }
  void enqueue(Stream& s, const ConvolutionBackwardWeight& op) final {
    pass(s, op, "convolution_backward_weight");
  }
  void enqueue(Stream& s, const BatchNormForward& op) final { pass(s, op, "batch_norm_forward"); }
  void enqueue(Stream& s, const BatchNormBackward& op) final { pass(s, op, "batch_norm_backward"); }
  void enqueue(Stream& s, const MaxPoolForward& op) final { pass(s, op, "max_pool_forward"); }
  void enqueue(Stream& s, const MaxPoolBackward& op) final { pass(s, op, "max_pool_backward"); }
  void enqueue(Stream& s, const AveragePoolForward& op) final {
    pass(s, op, "average_pool_forward");
  }
  void enqueue(Stream& s, const AveragePoolBackward& op) final {
    pass(s, op, "average_pool_backward");
  }

 private:
  template <class Op>
  void pass(Stream& stream, const Op& op, const char* name) {
    static_cast<Derived*>(this)->take(stream, op, name);
  }
};

// Operations that are each handed on in the end to other operations, which outlive this object:
// take() calls hand_on(stream, op).
template <class Derived>
class EachOperationHandedOn : public EachOperation<Derived> {
 public:
  explicit EachOperationHandedOn(Operations& operations) : operations_(operations) {}

  [[nodiscard]] std::map<std::string, std::string> implementations() const final {
    return operations_.implementations();
  }
  [[nodiscard]] ImageOperations* images() final {
    return operations_.images() == nullptr ? nullptr : this;
  }

 protected:
  template <class Op>
  void hand_on(Stream& stream, const Op& op) {
    if constexpr (ImageOperation<Op>) {
      operations_.images()->enqueue(stream, op);
    } else {
      operations_.enqueue(stream, op);
    }
  }

 private:
  Operations& operations_;
};

}  // namespace tandem
