// SPDX-License-Identifier: Apache-2.0
//
// In a module that is built where there is no cuDNN.
#include "common/base/error.h"
#include "common/kernels/cuda/convolution_library.h"

namespace tandem::cuda {

std::string lack_of_convolutions() {
  return "on GPUs convolutions are cuDNN's, and the CUDA module was built without: install cuDNN 9 "
         "with its headers and build it anew";
}

std::string convolution_library_version() { return ""; }

std::unique_ptr<ConvolutionLibrary> make_convolutions(CudaDevice& /*device*/,
                                                      Precision /*precision*/) {
  fail(ErrorKind::kUsage, "{}", lack_of_convolutions());
}

}  // namespace tandem::cuda
