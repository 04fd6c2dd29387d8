// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/kernels/operations.h"

namespace tandem {

template <class Op>
concept ImageOperation = requires(ImageOperations& images, Stream& stream, const Op& op) {
  images.enqueue(stream, op);
};

// Operations that all come to one template of `Derived`:
//   template <class Op> void take(Stream& stream, const Op& op);
// Those on images do as well where `Derived` offers them: images() then returns `this`.
template <class Derived>
class EachOperation : public Operations, protected ImageOperations {
 public:
  void enqueue(Stream& s, const LinearForward& op) final { pass(s, op); }
  void enqueue(Stream& s, const LinearBackwardInput& op) final { pass(s, op); }
  void enqueue(Stream& s, const LinearBackwardWeight& op) final { pass(s, op); }
  void enqueue(Stream& s, const ReluBackward& op) final { pass(s, op); }
  void enqueue(Stream& s, const GeluBackward& op) final { pass(s, op); }
  void enqueue(Stream& s, const EmbeddingForward& op) final { pass(s, op); }
  void enqueue(Stream& s, const EmbeddingBackward& op) final { pass(s, op); }
  void enqueue(Stream& s, const LayerNormForward& op) final { pass(s, op); }
  void enqueue(Stream& s, const LayerNormBackward& op) final { pass(s, op); }
  void enqueue(Stream& s, const AttentionForward& op) final { pass(s, op); }
  void enqueue(Stream& s, const AttentionBackward& op) final { pass(s, op); }
  void enqueue(Stream& s, const MseLoss& op) final { pass(s, op); }
  void enqueue(Stream& s, const MseLossBackward& op) final { pass(s, op); }
  void enqueue(Stream& s, const CrossEntropyLoss& op) final { pass(s, op); }
  void enqueue(Stream& s, const CrossEntropyLossBackward& op) final { pass(s, op); }
  void enqueue(Stream& s, const WeightedSum& op) final { pass(s, op); }
  void enqueue(Stream& s, const SgdUpdate& op) final { pass(s, op); }
  void enqueue(Stream& s, const AdamUpdate& op) final { pass(s, op); }
  void enqueue(Stream& s, const FillRandom& op) final { pass(s, op); }
  void enqueue(Stream& s, const Fill& op) final { pass(s, op); }
  void enqueue(Stream& s, const Scale& op) final { pass(s, op); }
  void enqueue(Stream& s, const Add& op) final { pass(s, op); }
  void enqueue(Stream& s, const AddScalar& op) final { pass(s, op); }
  void enqueue(Stream& s, const Subtract& op) final { pass(s, op); }
  void enqueue(Stream& s, const Convert& op) final { pass(s, op); }
  void enqueue(Stream& s, const Orthogonalise& op) final { pass(s, op); }
  void enqueue(Stream& s, const ConvolutionForward& op) final { pass(s, op); }
  void enqueue(Stream& s, const ConvolutionBackwardInput& op) final { pass(s, op); }
  void enqueue(Stream& s, const ConvolutionBackwardWeight& op) final { pass(s, op); }
  void enqueue(Stream& s, const BatchNormForward& op) final { pass(s, op); }
  void enqueue(Stream& s, const BatchNormBackward& op) final { pass(s, op); }
  void enqueue(Stream& s, const MaxPoolForward& op) final { pass(s, op); }
  void enqueue(Stream& s, const MaxPoolBackward& op) final { pass(s, op); }
  void enqueue(Stream& s, const AveragePoolForward& op) final { pass(s, op); }
  void enqueue(Stream& s, const AveragePoolBackward& op) final { pass(s, op); }

 private:
  template <class Op>
  void pass(Stream& stream, const Op& op) {
    static_cast<Derived*>(this)->take(stream, op);
  }
};

}  // namespace tandem
