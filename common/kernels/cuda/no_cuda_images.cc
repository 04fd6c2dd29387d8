// SPDX-License-Identifier: Apache-2.0
//
// In a module that is built where there is no cuDNN.
#include "common/kernels/cuda/cuda_images.h"

namespace tandem::cuda {

std::string lack_of_cuda_images() {
  return "on GPUs convolutions are cuDNN's, and the CUDA module was built without: install cuDNN 9 "
         "with its headers and build it anew";
}

std::string cuda_image_library_version() { return ""; }

std::unique_ptr<ImageOperations> make_cuda_images(CudaDevice& /*device*/, Precision /*precision*/) {
  return nullptr;
}

}  // namespace tandem::cuda
