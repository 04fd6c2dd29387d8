// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/kernels/host/convolution.h"
#include "common/kernels/host/linear.h"
#include "common/kernels/operations.h"

namespace tandem::host {

// The operations on images of a host device: oneDNN for the convolutions, own loops for the rest,
// all run by the stream's worker. A part of HostOperations, with which this object shares scratch
// memory, products and thread-safety.
class HostImageOperations final : public ImageOperations {
 public:
  HostImageOperations(Scratch& scratch, LinearProducts& products)
      : scratch_(scratch), convolutions_(scratch, products) {}

  void enqueue(Stream& stream, const ConvolutionForward& op) override;
  void enqueue(Stream& stream, const ConvolutionBackwardInput& op) override;
  void enqueue(Stream& stream, const ConvolutionBackwardWeight& op) override;
  void enqueue(Stream& stream, const BatchNormForward& op) override;
  void enqueue(Stream& stream, const BatchNormBackward& op) override;
  void enqueue(Stream& stream, const MaxPoolForward& op) override;
  void enqueue(Stream& stream, const MaxPoolBackward& op) override;
  void enqueue(Stream& stream, const AveragePoolForward& op) override;
  void enqueue(Stream& stream, const AveragePoolBackward& op) override;

  // The number of convolutions prepared so far, without those that are products: one per pass,
  // shape and type.
  [[nodiscard]] std::int64_t convolution_count() const { return convolutions_.count(); }

 private:
  Scratch& scratch_;
  Convolutions convolutions_;
};

// The operations of a host device: oneDNN for the products, own loops for the rest, all run by the
// stream's worker. As thread-safe as Operations. May be destroyed while its work is still queued.
class HostOperations final : public Operations {
 public:
  explicit HostOperations(Device& device)
      : scratch_(device), products_(scratch_), images_(scratch_, products_) {}

  void enqueue(Stream& stream, const LinearForward& op) override;
  void enqueue(Stream& stream, const LinearBackwardInput& op) override;
  void enqueue(Stream& stream, const LinearBackwardWeight& op) override;
  void enqueue(Stream& stream, const ReluBackward& op) override;
  void enqueue(Stream& stream, const GeluBackward& op) override;
  void enqueue(Stream& stream, const EmbeddingForward& op) override;
  void enqueue(Stream& stream, const EmbeddingBackward& op) override;
  void enqueue(Stream& stream, const LayerNormForward& op) override;
  void enqueue(Stream& stream, const LayerNormBackward& op) override;
  void enqueue(Stream& stream, const AttentionForward& op) override;
  void enqueue(Stream& stream, const AttentionBackward& op) override;
  void enqueue(Stream& stream, const MseLoss& op) override;
  void enqueue(Stream& stream, const MseLossBackward& op) override;
  void enqueue(Stream& stream, const CrossEntropyLoss& op) override;
  void enqueue(Stream& stream, const CrossEntropyLossBackward& op) override;
  void enqueue(Stream& stream, const WeightedSum& op) override;
  void enqueue(Stream& stream, const SgdUpdate& op) override;
  void enqueue(Stream& stream, const AdamUpdate& op) override;
  void enqueue(Stream& stream, const FillRandom& op) override;
  void enqueue(Stream& stream, const Fill& op) override;
  void enqueue(Stream& stream, const Scale& op) override;
  void enqueue(Stream& stream, const Add& op) override;
  void enqueue(Stream& stream, const AddScalar& op) override;
  void enqueue(Stream& stream, const Subtract& op) override;
  void enqueue(Stream& stream, const Convert& op) override;
  void enqueue(Stream& stream, const Orthogonalise& op) override;

  [[nodiscard]] HostImageOperations* images() override { return &images_; }

  // The number of library primitives made so far: one per product, shape, ReLU or none, and bias or
  // none.
  [[nodiscard]] std::int64_t primitive_count() const { return products_.count(); }

 private:
  Scratch scratch_;
  LinearProducts products_;
  HostImageOperations images_;
};

}  // namespace tandem::host
