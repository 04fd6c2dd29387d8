// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/gpu.h"

#include "common/runtime/cuda/check.h"
#include "common/runtime/cuda/own_kernels.h"

namespace tandem::cuda {
namespace {

int initialised(int ordinal, GpuWait wait) {
  check(init_device(ordinal, wait), "cudaInitDevice", ordinal);
  return ordinal;
}

}  // namespace

std::string identity_of(int ordinal) {
  cudaDeviceProp properties{};
  TANDEM_CUDA(ordinal, cudaGetDeviceProperties(&properties, ordinal));
  std::string uuid;
  for (const char byte : properties.uuid.bytes) {
    uuid += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return fmt::format("{:08X}:{:02X}:{:02X}.0 GPU-{}", properties.pciDomainID, properties.pciBusID,
                     properties.pciDeviceID, uuid);
}

cudaError_t init_device(int ordinal, GpuWait wait) {
  const unsigned flag =
      wait == GpuWait::kPark ? cudaDeviceScheduleBlockingSync : cudaDeviceScheduleAuto;
  return cudaInitDevice(ordinal, flag, cudaInitDeviceFlagsAreValid);
}

Gpu::Gpu(int ordinal, GpuWait wait)
    : ordinal_(initialised(ordinal, wait)),
      facts_(facts_of(ordinal)),
      setup_(ordinal, StreamPriority::kNormal) {
  const DeviceGuard here(ordinal_);
  TANDEM_CUDA(ordinal_, load_own_kernels());
}

Gpu::Facts Gpu::facts_of(int ordinal) {
  cudaDeviceProp properties{};
  TANDEM_CUDA(ordinal, cudaGetDeviceProperties(&properties, ordinal));
  return {properties.name, identity_of(ordinal), properties.multiProcessorCount,
          10 * properties.major + properties.minor};
}

Bytes Gpu::free_memory() const {
  const DeviceGuard here(ordinal_);
  std::size_t left = 0;
  std::size_t total = 0;
  TANDEM_CUDA(ordinal_, cudaMemGetInfo(&left, &total));
  return Bytes{static_cast<std::int64_t>(left)};
}

void Gpu::give_up(const Error& reason) {
  const std::lock_guard lock(mutex_);
  if (failure_) return;
  failure_.emplace(reason);
  failed_.store(true, std::memory_order_release);
}

void Gpu::after_enqueue(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  if (!is_sticky(status)) check(status, call, ordinal_);
  give_up({ErrorKind::kFailure,
           fmt::format("{}; the GPU's context is lost, all its streams have failed",
                       describe(status, call, ordinal_))});
}

void Gpu::after_wait(cudaError_t status, const char* call) {
  after_enqueue(status, call);
  throw_if_failed();  // also where a communicator gave up meanwhile
}

void Gpu::after_library(const Error& error) {
  static_cast<void>(cudaGetLastError());
  const cudaError_t status = cudaStreamQuery(setup_.get());
  if (is_sticky(status)) after_enqueue(status, "cudaStreamQuery");
  if (!failed()) throw Error(error);
}

bool Gpu::is_done(cudaError_t answer, const char* call) {
  if (answer == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());  // an answer, not an error
    return false;
  }
  after_wait(answer, call);
  return true;
}

void Gpu::throw_if_failed() const {
  if (!failed()) return;
  const std::lock_guard lock(mutex_);
  throw Error(*failure_);
}

void Gpu::zero_now(void* data, Bytes size) {
  const DeviceGuard here(ordinal_);
  const auto count = static_cast<std::size_t>(size.value);
  after_wait(cudaMemsetAsync(data, 0, count, setup_.get()), "cudaMemsetAsync");
  after_wait(cudaStreamSynchronize(setup_.get()), "cudaStreamSynchronize");
}

}  // namespace tandem::cuda
