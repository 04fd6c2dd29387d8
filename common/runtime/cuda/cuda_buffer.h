// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/runtime/cuda/gpu.h"
#include "common/runtime/device.h"
#include "common/runtime/memory_account.h"

namespace tandem::cuda {

// Memory of one logical device, from cudaMalloc; returned to its account on destruction. Making
// and freeing one waits for the GPU and its peers: never between the launches of a collective.
class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(Gpu& gpu, DeviceId device, MemoryAccount& account, Bytes size);
  ~CudaBuffer() override;

  [[nodiscard]] ByteSpan bytes() override;

 private:
  void allocate();

  Gpu& gpu_;
  const DeviceId device_;
  MemoryAccount& account_;
  const Bytes size_;
  void* data_ = nullptr;  // stays null where size_ is 0
};

// Pinned host memory, which every GPU of the process reaches.
class PinnedBuffer final : public Buffer {
 public:
  PinnedBuffer(int gpu, Bytes size);  // `gpu`: whose context pins it
  ~PinnedBuffer() override;

  [[nodiscard]] ByteSpan bytes() override;

 private:
  const int gpu_;
  const Bytes size_;
  void* data_ = nullptr;
};

}  // namespace tandem::cuda
