// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/cuda_operations.h"
#include "common/kernels/cuda/library_operations.h"
#include "common/kernels/cuda_kernels_module.h"

namespace {

constexpr tandem::CudaKernelsModule kCudaKernelsModule{
    tandem::kCudaKernelsAbi, &tandem::cuda::make_cuda_operations,
    &tandem::cuda::cuda_library_version, &tandem::cuda::lack_of_convolutions};

}  // namespace

extern "C" __attribute__((visibility("default"))) const tandem::CudaKernelsModule*
tandem_cuda_kernels_module() {
  return &kCudaKernelsModule;
}
