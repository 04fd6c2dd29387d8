// SPDX-License-Identifier: Apache-2.0
//
// Memory of the pretended runtime: allocation, what a pointer is, copies and fills.
#include "pretend/core/memory.h"

#include <cstdint>
#include <cstring>

#include "pretend/core/capture.h"
#include "pretend/core/copy.h"
#include "pretend/core/device.h"
#include "pretend/core/log.h"
#include "pretend/core/put.h"
#include "pretend/core/segments.h"
#include "pretend/core/sharing.h"
#include "pretend/cudart/last_error.h"

using namespace tandem::pretend;

namespace {

abi::CudaError take(const char* call, void** address, uint64_t bytes, int device) {
  if (capture::is_any()) {
    const abi::CudaError error = capture::check_unsafe();
    if (error != abi::kCudaSuccess) return with_last_error(error);
  }
  log::Entry entry(call, RecordKind::kMemory);
  entry.at(device, 0);
  entry.set(bytes);
  *address =
      device == memory::kHost ? memory::allocate_pinned(bytes) : memory::allocate(device, bytes);
  return with_last_error(*address == nullptr ? abi::kCudaMemoryAllocation : abi::kCudaSuccess);
}

abi::CudaError give_back(const char* call, void* address) {
  if (address == nullptr) return abi::kCudaSuccess;
  log::Entry entry(call, RecordKind::kMemory);
  const memory::Place place = memory::find(address);
  entry.at(place.device, 0);
  entry.set(-static_cast<int64_t>(place.bytes));
  settle_if_needed(address, place.bytes);
  return with_last_error(memory::release(address) ? abi::kCudaSuccess : abi::kCudaInvalidValue);
}

}  // namespace

extern "C" {

abi::CudaError cudaMalloc(void** address, uint64_t bytes) {
  return take("cudaMalloc", address, bytes, current_device());
}

abi::CudaError cudaMallocAsync(void** address, uint64_t bytes, void*) {
  return take("cudaMallocAsync", address, bytes, current_device());
}

abi::CudaError cudaMallocManaged(void** address, uint64_t bytes, unsigned) {
  return take("cudaMallocManaged", address, bytes, current_device());
}

abi::CudaError cudaFree(void* address) { return give_back("cudaFree", address); }

abi::CudaError cudaFreeAsync(void* address, void*) { return give_back("cudaFreeAsync", address); }

abi::CudaError cudaHostAlloc(void** address, uint64_t bytes, unsigned) {
  return take("cudaHostAlloc", address, bytes, memory::kHost);
}

abi::CudaError cudaMallocHost(void** address, uint64_t bytes) {
  return take("cudaMallocHost", address, bytes, memory::kHost);
}

abi::CudaError cudaFreeHost(void* address) {
  const bool done = address == nullptr || memory::release_pinned(address);
  return with_last_error(done ? abi::kCudaSuccess : abi::kCudaInvalidValue);
}

abi::CudaError cudaHostRegister(void* address, uint64_t bytes, unsigned) {
  memory::note_pinned(address, bytes);
  return abi::kCudaSuccess;
}

abi::CudaError cudaHostUnregister(void* address) {
  return with_last_error(memory::forget_pinned(address) ? abi::kCudaSuccess
                                                        : abi::kCudaInvalidValue);
}

abi::CudaError cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  return put(device, host);
}

abi::CudaError cudaIpcGetMemHandle(abi::IpcHandle* handle, void* address) {
  sharing::Handle from{};
  const bool done = sharing::share(address, &from);
  *handle = {};  // torch compares all its bytes
  std::memcpy(handle->bytes, &from, sizeof from);
  return with_last_error(done ? abi::kCudaSuccess : abi::kCudaInvalidValue);
}

abi::CudaError cudaIpcOpenMemHandle(void** address, abi::IpcHandle handle, unsigned) {
  sharing::Handle from{};
  std::memcpy(&from, handle.bytes, sizeof from);
  *address = sharing::open(from);
  return with_last_error(*address == nullptr ? abi::kCudaInvalidResourceHandle : abi::kCudaSuccess);
}

abi::CudaError cudaIpcCloseMemHandle(void* address) {
  const memory::Place place = memory::find(address);
  const bool done =
      segments::unmap(address, place.bytes) && segments::give_up(address, place.bytes);
  return with_last_error(done ? abi::kCudaSuccess : abi::kCudaInvalidValue);
}

abi::CudaError cudaPointerGetAttributes(abi::PointerAttributes* attributes, const void* address) {
  const memory::Place place = memory::find(address);
  const bool on_device = place.device != memory::kHost;
  attributes->type = place.bytes == 0 ? 0 : on_device ? 2 : 1;
  attributes->device = on_device ? place.device : place.bytes == 0 ? -2 : current_device();
  attributes->device_pointer = place.bytes == 0 ? nullptr : const_cast<void*>(address);
  attributes->host_pointer = on_device ? nullptr : const_cast<void*>(address);
  return abi::kCudaSuccess;
}

abi::CudaError cudaMemcpy(void* to, const void* from, uint64_t bytes, int) {
  return copy("cudaMemcpy", to, from, bytes, nullptr);
}

abi::CudaError cudaMemcpyAsync(void* to, const void* from, uint64_t bytes, int, void* stream) {
  return copy("cudaMemcpyAsync", to, from, bytes, stream);
}

abi::CudaError cudaMemcpyPeer(void* to, int, const void* from, int, uint64_t bytes) {
  return copy("cudaMemcpyPeer", to, from, bytes, nullptr);
}

abi::CudaError cudaMemcpyPeerAsync(void* to, int, const void* from, int, uint64_t bytes,
                                   void* stream) {
  return copy("cudaMemcpyPeerAsync", to, from, bytes, stream);
}

abi::CudaError cudaMemcpy2D(void* to, uint64_t to_pitch, const void* from, uint64_t from_pitch,
                            uint64_t width, uint64_t height, int) {
  return copy_rows("cudaMemcpy2D", {to, to_pitch, from, from_pitch, width, height}, nullptr);
}

abi::CudaError cudaMemcpy2DAsync(void* to, uint64_t to_pitch, const void* from, uint64_t from_pitch,
                                 uint64_t width, uint64_t height, int, void* stream) {
  return copy_rows("cudaMemcpy2DAsync", {to, to_pitch, from, from_pitch, width, height}, stream);
}

abi::CudaError cudaMemset(void* to, int value, uint64_t bytes) {
  return fill("cudaMemset", to, value, bytes, nullptr);
}

abi::CudaError cudaMemsetAsync(void* to, int value, uint64_t bytes, void* stream) {
  return fill("cudaMemsetAsync", to, value, bytes, stream);
}
}
