// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/kernels/cuda/convolutions.h"
#include "common/kernels/cuda/queue.h"

namespace tandem::cuda {

// The operations on images of a GPU: cuDNN for the convolutions, own kernels for the rest. As
// CudaOperations, whose part this is; scratch memory is taken when forward is first given a shape.
class CudaImageOperations final : public ImageOperations {
 public:
  CudaImageOperations(CudaDevice& device, Precision precision, const CudnnApi& api)
      : convolutions_(device, precision, api), sums_(device) {}

  void enqueue(Stream& stream, const ConvolutionForward& op) override;
  void enqueue(Stream& stream, const ConvolutionBackwardInput& op) override;
  void enqueue(Stream& stream, const ConvolutionBackwardWeight& op) override;
  void enqueue(Stream& stream, const BatchNormForward& op) override;
  void enqueue(Stream& stream, const BatchNormBackward& op) override;
  void enqueue(Stream& stream, const MaxPoolForward& op) override;
  void enqueue(Stream& stream, const MaxPoolBackward& op) override;
  void enqueue(Stream& stream, const AveragePoolForward& op) override;
  void enqueue(Stream& stream, const AveragePoolBackward& op) override;

  // Plans of convolutions made so far.
  [[nodiscard]] std::int64_t prepared_convolutions() const { return convolutions_.count(); }

 private:
  template <class Op>
  void queue_batch_norm(Stream& stream, const char* name, const Op& op);

  Convolutions convolutions_;
  GrowingMemory sums_;  // of batch normalisation
};

}  // namespace tandem::cuda
