// SPDX-License-Identifier: Apache-2.0
#include <cuda_profiler_api.h>

#include "common/base/error.h"
#include "common/runtime/cuda/cuda_stream.h"
#include "common/runtime/cuda_module.h"

namespace {

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  tandem::fail(tandem::ErrorKind::kFailure, "telling a profiler: {}: {} ({})", call,
               cudaGetErrorName(status), cudaGetErrorString(status));
}

void start() { check(cudaProfilerStart(), "cudaProfilerStart()"); }
void stop() { check(cudaProfilerStop(), "cudaProfilerStop()"); }

void* native_stream(tandem::Stream& stream) {
  return static_cast<tandem::cuda::CudaStream&>(stream).get();
}

int gpu(tandem::Stream& stream) {
  return static_cast<tandem::cuda::CudaStream&>(stream).gpu().ordinal();
}

constexpr tandem::CudaProfiling kProfiling{&start, &stop, &native_stream, &gpu};

}  // namespace

extern "C" __attribute__((visibility("default"))) const tandem::CudaProfiling*
tandem_cuda_profiling_module() {
  return &kProfiling;
}
