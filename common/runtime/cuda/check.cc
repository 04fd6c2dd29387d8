// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/check.h"

#include <atomic>
#include <cstdio>

namespace tandem::cuda {

namespace {

ErrorKind kind_of(cudaError_t status) {
  return status == cudaErrorMemoryAllocation ? ErrorKind::kOutOfMemory : ErrorKind::kFailure;
}

}  // namespace

bool is_sticky(cudaError_t status) {
  switch (status) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorMpsClientTerminated:
    case cudaErrorUnknown:
      return true;
    default:  // some 150 others, and new ones with each toolkit
      return false;
  }
}

std::string describe(cudaError_t status, const char* call, int gpu) {
  return fmt::format("{} on GPU {}: {} ({})", call, gpu, cudaGetErrorName(status),
                     cudaGetErrorString(status));
}

void check(cudaError_t status, const char* call, int gpu) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw Error(kind_of(status), describe(status, call, gpu));
}

void warn(cudaError_t status, const char* call, int gpu) noexcept {
  if (status == cudaSuccess || status == cudaErrorCudartUnloading) return;
  static_cast<void>(cudaGetLastError());
  // After a first failure most of what is torn down fails too: one line is enough.
  static std::atomic_flag said;
  if (said.test_and_set()) return;
  std::fprintf(stderr, "tandem: %s on GPU %d: %s (%s), while cleaning up\n", call, gpu,
               cudaGetErrorName(status), cudaGetErrorString(status));
}

namespace {

// Whether bind_thread chose this thread's current GPU. CUDA itself does not know: to a thread that
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

UniqueStream::UniqueStream(int gpu, StreamPriority priority) : gpu_(gpu) {
  const DeviceGuard here(gpu_);
  int lowest = 0;  // smaller is more urgent
  int highest = 0;
  TANDEM_CUDA(gpu_, cudaDeviceGetStreamPriorityRange(&lowest, &highest));
  const int level = priority == StreamPriority::kHigh ? highest : lowest;
  TANDEM_CUDA(gpu_, cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, level));
}

UniqueStream::~UniqueStream() {
  const DeviceGuard here(gpu_, std::nothrow);
  TANDEM_CUDA_NOTHROW(gpu_, cudaStreamSynchronize(stream_));
  TANDEM_CUDA_NOTHROW(gpu_, cudaStreamDestroy(stream_));
}

UniqueEvent::UniqueEvent(int gpu, EventTiming timing) : gpu_(gpu) {
  const DeviceGuard here(gpu_);
  const unsigned flags = timing == EventTiming::kOn ? cudaEventDefault : cudaEventDisableTiming;
  TANDEM_CUDA(gpu_, cudaEventCreateWithFlags(&event_, flags));
}

UniqueEvent::~UniqueEvent() {
  const DeviceGuard here(gpu_, std::nothrow);
  TANDEM_CUDA_NOTHROW(gpu_, cudaEventDestroy(event_));
}

}  // namespace tandem::cuda
