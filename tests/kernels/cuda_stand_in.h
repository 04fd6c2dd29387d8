// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "common/kernels/cuda/cuda_operations.h"
#include "common/runtime/cuda/cuda_platform.h"
#include "tests/kernels/stand_in_cublaslt.h"
#include "tests/kernels/stand_in_cudnn.h"
#include "tests/runtime/stand_in_cudart.h"

namespace tandem::test {

// The CUDA back end on stand-ins, cuDNN's among them, for the parity suites; as after a start of
// each.
struct CudaStandIn {
  static std::unique_ptr<Platform> open(const PlatformOptions& options, std::string&) {
    stand_in::reset(2);
    stand_in::cublaslt() = {};
    stand_in::cudnn() = {};
    return cuda::make_cuda_platform(options);
  }
  static std::unique_ptr<Operations> make(Device& device, Precision precision,
                                          const ImageOptions& images) {
    return cuda::make_cuda_operations(device, precision, images);
  }
};

}  // namespace tandem::test
