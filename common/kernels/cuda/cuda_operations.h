// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/kernels/cuda/fused_attention.h"
#include "common/kernels/cuda/matrix_products.h"
#include "common/kernels/cuda/queue.h"
#include "common/kernels/operations.h"
#include "common/runtime/cuda/cuda_device.h"

namespace tandem::cuda {

// The operations of a GPU: cuBLASLt for the products, own kernels for the rest. Device memory is
// taken on construction, so that no operation allocates, frees or waits, whatever else is in
// flight; but for scratch memory of attention and layer normalisation, whose size is known when
// forward is first given a shape (Replica::prime() does, before there are collectives). What is
// queued must end before this goes (freeing the memory waits for the GPU anyway). Thread-safety as
// Operations.
class CudaOperations final : public Operations {
 public:
  // A usage error where the GPU has not that precision.
  CudaOperations(CudaDevice& device, Precision precision);

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

  [[nodiscard]] std::map<std::string, std::string> implementations() const override;

  // Made when first asked for, since most models do without; null where lack_of_cuda_images().
  [[nodiscard]] ImageOperations* images() override;

  // Products prepared so far: one per plan and alignment of the operands.
  [[nodiscard]] std::int64_t prepared_products() const { return products_.count(); }

 private:
  template <class Op>
  void queue_attention(Stream& stream, const char* name, const Op& op);

  CudaDevice& device_;
  const Precision precision_;
  const std::unique_ptr<Buffer> memory_;
  const ByteSpan workspace_;     // of the products
  const Span<double> partials_;  // of the sums
  MatrixProducts products_;
  GrowingMemory sums_of_rows_;                       // of layer normalisation
  GrowingMemory scores_;                             // of attention
  std::unique_ptr<FusedAttention> fused_attention_;  // from the first attention on
  std::unique_ptr<ImageOperations> images_;
};

// What the module exports for make_operations (operations.h): `device` is a CUDA device.
[[nodiscard]] std::unique_ptr<Operations> make_cuda_operations(Device& device, Precision precision);

// "CUDA 13.1, cuBLASLt 13.1.0, cuDNN 9.19.0", the last where it can be had.
[[nodiscard]] std::string cuda_library_version();

}  // namespace tandem::cuda
