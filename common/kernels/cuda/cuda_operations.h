// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/kernels/cuda/library_operations.h"
#include "common/kernels/cuda/matrix_products.h"
#include "common/kernels/cuda/queue.h"
#include "common/kernels/operations.h"
#include "common/runtime/cuda/cuda_device.h"

namespace tandem::cuda {

// The operations of a GPU: cuBLASLt for the products, cuDNN for the convolutions, own kernels for
// the rest. Device memory is taken on construction, so that no operation allocates, frees or waits,
// whatever else is in flight; but for scratch memory of attention, convolutions and normalisations,
// whose size is known when forward is first given a shape (Replica::prime() does, before there are
// collectives). Queued work must end before this object goes (freeing the memory waits for the GPU
// anyway). Thread-safety as Operations.
class CudaOperations final : public EachOperation<CudaOperations> {
 public:
  // A usage error where the GPU has not that precision.
  CudaOperations(CudaDevice& device, Precision precision, const ImageOptions& images = {});

  template <class Op>
  void take(Stream& stream, const Op& op, const char* name);

  [[nodiscard]] std::map<std::string, std::string> implementations() const override;

 private:
  // Launches what an operation consists of on the GPU's stream; the first error of a launch.
#define TANDEM_LAUNCH(Op, name) [[nodiscard]] cudaError_t launch(cudaStream_t stream, const Op& op);
  TANDEM_EACH_OTHER_OPERATION(TANDEM_LAUNCH)
#undef TANDEM_LAUNCH

  // Takes the scratch memory of an operation and adds what launch() writes there.
  template <class Op>
  void add_scratch(Stream& stream, const Op& op, std::vector<Access>& all);

  [[nodiscard]] ConvolutionLibrary& convolutions();

  CudaDevice& device_;
  const ImageOptions images_;
  const std::unique_ptr<Buffer> memory_;
  const ByteSpan workspace_;     // of the products
  const Span<double> partials_;  // of the sums
  MatrixProducts products_;
  GrowingMemory sums_;                                // of normalisations
  GrowingMemory scores_;                              // of attention
  std::unique_ptr<FusedAttention> fused_attention_;   // from the first attention on
  AttentionShape attention_;                          // the latest
  std::string_view unfused_;                          // why it is computed by products
  std::unique_ptr<ConvolutionLibrary> convolutions_;  // from the first convolution on
};

// The module's export for make_operations (operations.h): `device` is a CUDA device.
[[nodiscard]] std::unique_ptr<Operations> make_cuda_operations(Device& device, Precision precision,
                                                               const ImageOptions& images);

// "CUDA 13.1, cuBLASLt 13.1.0, cuDNN 9.19.0", the last where it can be had.
[[nodiscard]] std::string cuda_library_version();

}  // namespace tandem::cuda
