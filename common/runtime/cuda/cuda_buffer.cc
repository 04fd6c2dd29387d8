// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda/cuda_buffer.h"

#include <cstring>

#include "common/base/error.h"
#include "common/runtime/cuda/check.h"
#include "common/runtime/cuda/device_guard.h"

namespace tandem::cuda {
namespace {

std::size_t count_of(Bytes size) { return static_cast<std::size_t>(size.value); }

}  // namespace

CudaBuffer::CudaBuffer(Gpu& gpu, DeviceId device, MemoryAccount& account, Bytes size)
    : gpu_(gpu), device_(device), account_(account), size_(size) {
  TANDEM_CHECK(size.value >= 0, "{} bytes asked", size.value);
  account_.charge(size_);
  try {
    if (size_.value > 0) allocate();
  } catch (...) {
    account_.release(size_);
    throw;
  }
}

void CudaBuffer::allocate() {
  gpu_.throw_if_failed();
  const DeviceGuard here(gpu_.ordinal());
  const cudaError_t status = cudaMalloc(&data_, count_of(size_));
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    // Before the capacity was: others use this GPU too.
    fail(ErrorKind::kOutOfMemory,
         "{} is out of memory: {} asked, {} left on its GPU, in one piece or not; use a smaller "
         "model or batch, or end what else runs there",
         to_string(device_), to_string(size_), to_string(gpu_.free_memory()));
  }
  gpu_.after_wait(status, "cudaMalloc");
  try {
    gpu_.zero_now(data_, size_);
  } catch (...) {
    TANDEM_CUDA_NOTHROW(gpu_.ordinal(), cudaFree(data_));
    throw;
  }
}

CudaBuffer::~CudaBuffer() {
  if (data_ != nullptr) {
    const DeviceGuard here(gpu_.ordinal(), std::nothrow);
    TANDEM_CUDA_NOTHROW(gpu_.ordinal(), cudaFree(data_));
  }
  account_.release(size_);
}

ByteSpan CudaBuffer::bytes() { return {static_cast<std::byte*>(data_), size_.value, device_}; }

PinnedBuffer::PinnedBuffer(int gpu, Bytes size) : gpu_(gpu), size_(size) {
  TANDEM_CHECK(size.value >= 0, "{} bytes asked", size.value);
  if (size_.value == 0) return;
  const DeviceGuard here(gpu_);
  const cudaError_t status = cudaHostAlloc(&data_, count_of(size_), cudaHostAllocPortable);
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    fail(ErrorKind::kOutOfMemory,
         "host memory is out: {} of pinned memory asked; use a smaller model or batch, or raise "
         "the memory limit of the machine or container",
         to_string(size_));
  }
  check(status, "cudaHostAlloc", gpu_);
  std::memset(data_, 0, count_of(size_));
}

PinnedBuffer::~PinnedBuffer() {
  if (data_ == nullptr) return;
  const DeviceGuard here(gpu_, std::nothrow);
  TANDEM_CUDA_NOTHROW(gpu_, cudaFreeHost(data_));
}

ByteSpan PinnedBuffer::bytes() {
  // Tagged like the host back end's own host memory: it is one place, whatever back end asks.
  return {static_cast<std::byte*>(data_), size_.value, {Backend::kHost, DeviceId::kHostMemory}};
}

}  // namespace tandem::cuda
