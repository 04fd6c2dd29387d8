// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/check.h"

#include <atomic>
#include <cstdio>

#include "common/runtime/cuda/capture.h"

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
  Capture::look_after(call);
  static_cast<void>(cudaGetLastError());
  throw Error(kind_of(status), describe(status, call, gpu));
}

void warn(cudaError_t status, const char* call, int gpu) noexcept {
  if (status == cudaSuccess || status == cudaErrorCudartUnloading) return;
  static_cast<void>(cudaGetLastError());
  // After a first failure most of what is torn down fails too: one line tells it all.
  static std::atomic_flag said;
  if (said.test_and_set()) return;
  std::fprintf(stderr, "tandem: %s on GPU %d: %s (%s), while cleaning up\n", call, gpu,
               cudaGetErrorName(status), cudaGetErrorString(status));
}

}  // namespace tandem::cuda
