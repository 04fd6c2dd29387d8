// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and attention in a module that is built where there is no cuDNN.
#include "common/base/error.h"
#include "common/kernels/cuda/library_operations.h"

namespace tandem::cuda {

std::string lack_of_convolutions() {
  return "on GPUs convolutions are cuDNN's, and the CUDA module was built without: install cuDNN 9 "
         "with its headers and build it anew";
}

std::string convolution_library_version() { return ""; }

std::unique_ptr<ConvolutionLibrary> make_convolutions(CudaDevice& /*device*/,
                                                      const ImageOptions& /*how*/) {
  fail(ErrorKind::kUsage, "{}", lack_of_convolutions());
}

std::unique_ptr<FusedAttention> make_fused_attention(CudaDevice& /*device*/) {
  return std::make_unique<FusedAttention>("this build has no cuDNN");
}

}  // namespace tandem::cuda
