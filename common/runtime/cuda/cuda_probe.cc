// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/cuda_probe.h"

#include <cuda_runtime_api.h>

#include <cstdlib>

#include "common/runtime/cuda/check.h"
#include "common/runtime/cuda/gpu.h"
#include "common/runtime/cuda/gpu_choice.h"
#include "common/runtime/device.h"

namespace tandem::cuda {
namespace {

std::string version_text(int version) {  // 12040 is 12.4
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

CudaProbe too_old(int driver) {
  int runtime = 0;
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  return {CudaState::kDriverTooOld,
          fmt::format("the driver supports CUDA {}, this build needs {}: update the driver, or "
                      "build with an older toolkit",
                      version_text(driver), version_text(runtime))};
}

cudaComputeMode compute_mode(int gpu) {
  int mode = cudaComputeModeDefault;
  if (cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, gpu) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
  }
  return static_cast<cudaComputeMode>(mode);
}

CudaProbe none_visible() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr) {
    return {CudaState::kNoDeviceVisible,
            fmt::format("CUDA shows no device while CUDA_VISIBLE_DEVICES is '{}'", visible)};
  }
  return {CudaState::kNoDeviceVisible,
          "CUDA shows no device: in a container, start it with its GPUs passed through"};
}

// What lets no process in, or no other one, and what to do about it.
CudaProbe busy(int gpu) {
  const std::string address = pci_address_of(identity_of(gpu));
  const std::string reset = fmt::format("let root set its mode (nvidia-smi -i {} -c 0)", address);
  switch (compute_mode(gpu)) {
    case cudaComputeModeProhibited:
      return {CudaState::kBusy,
              fmt::format("GPU {} ({}) is in prohibited mode, in which no process may compute on "
                          "it: {}, or name others with --gpus",
                          gpu, address, reset)};
    case cudaComputeModeExclusive:
    case cudaComputeModeExclusiveProcess:
      return {CudaState::kBusy,
              fmt::format("GPU {} ({}) is in exclusive-process mode, and another process is on "
                          "it: give each rank a GPU of its own, end what else computes there, or "
                          "{}",
                          gpu, address, reset)};
    case cudaComputeModeDefault:
      break;
  }
  return {CudaState::kBusy,
          fmt::format("GPU {} ({}) is busy: CUDA makes no context on it; see what computes there "
                      "(nvidia-smi)",
                      gpu, address)};
}

CudaProbe from_status(cudaError_t status, const char* call, int gpu, int driver) {
  static_cast<void>(cudaGetLastError());
  switch (status) {
    case cudaErrorInsufficientDriver:
      return too_old(driver);
    case cudaErrorNoDevice:
      return none_visible();
    case cudaErrorDevicesUnavailable:
      return busy(gpu);
    case cudaErrorNotPermitted:
    case cudaErrorOperatingSystem:
      return {CudaState::kNotPermitted,
              fmt::format("the operating system denies it: {}", describe(status, call, gpu))};
    default:
      return {CudaState::kOtherTrouble, describe(status, call, gpu)};
  }
}

}  // namespace

CudaProbe probe(const PlatformOptions& options) {
  int driver = 0;
  static_cast<void>(cudaDriverGetVersion(&driver));
  if (driver == 0) {
    return {CudaState::kDriverMissing,
            "no NVIDIA driver library (libcuda.so.1) is to be found: install the driver, or in a "
            "container start it with its GPUs passed through"};
  }
  int gpus = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&gpus); status != cudaSuccess) {
    return from_status(status, "cudaGetDeviceCount", 0, driver);
  }
  if (gpus == 0) return none_visible();
  // An exclusive GPU shows itself only when a context is made.
  CudaProbe usable{CudaState::kUsable, ""};
  for (const int gpu : gpus_to_open(options, gpus)) {
    if (compute_mode(gpu) == cudaComputeModeProhibited) return busy(gpu);
    const cudaError_t status =
        cudaInitDevice(gpu, cudaDeviceScheduleBlockingSync, cudaInitDeviceFlagsAreValid);
    if (status != cudaSuccess) return from_status(status, "cudaInitDevice", gpu, driver);
    usable.gpus.push_back(identity_of(gpu));
  }
  return usable;
}

}  // namespace tandem::cuda
