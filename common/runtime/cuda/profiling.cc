// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/cuda_stream.h"
#include "common/runtime/cuda_module.h"

namespace {

void* native_stream(tandem::Stream& stream) {
  return static_cast<tandem::cuda::CudaStream&>(stream).get();
}

int gpu(tandem::Stream& stream) {
  return static_cast<tandem::cuda::CudaStream&>(stream).gpu().ordinal();
}

constexpr tandem::CudaProfiling kProfiling{&native_stream, &gpu};

}  // namespace

extern "C" __attribute__((visibility("default"))) const tandem::CudaProfiling*
tandem_cuda_profiling_module() {
  return &kProfiling;
}
