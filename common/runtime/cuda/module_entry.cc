// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/cuda_platform.h"
#include "common/runtime/cuda_module.h"

namespace {

constexpr tandem::CudaModule kCudaModule{tandem::kCudaModuleAbi, &tandem::cuda::probe,
                                         &tandem::cuda::make_cuda_platform};

}  // namespace

extern "C" __attribute__((visibility("default"))) const tandem::CudaModule* tandem_cuda_module() {
  return &kCudaModule;
}
