// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/device_guard.h"

#include "common/runtime/cuda/check.h"

namespace tandem::cuda {
namespace {

// Whether bind_thread chose this thread's current GPU. CUDA itself cannot tell: to a thread that
// never chose it answers 0.
thread_local bool bound = false;

// Makes `gpu` current; `before` becomes the GPU to go back to, where there is one.
cudaError_t enter(int gpu, int& before) noexcept {
  int current = 0;
  if (const cudaError_t status = cudaGetDevice(&current); status != cudaSuccess) return status;
  if (bound && current == gpu) return cudaSuccess;
  if (const cudaError_t status = cudaSetDevice(gpu); status != cudaSuccess) return status;
  if (bound) before = current;
  return cudaSuccess;
}

}  // namespace

void bind_thread(int gpu) {
  TANDEM_CUDA(gpu, cudaSetDevice(gpu));
  bound = true;
}

DeviceGuard::DeviceGuard(int gpu) { check(enter(gpu, restore_), "cudaSetDevice", gpu); }

DeviceGuard::DeviceGuard(int gpu, std::nothrow_t) noexcept {
  warn(enter(gpu, restore_), "cudaSetDevice", gpu);
}

DeviceGuard::~DeviceGuard() {
  if (restore_ != kNothing) TANDEM_CUDA_NOTHROW(restore_, cudaSetDevice(restore_));
}

}  // namespace tandem::cuda
