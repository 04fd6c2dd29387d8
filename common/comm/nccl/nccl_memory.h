// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "common/comm/communicator.h"
#include "common/comm/nccl/nccl_api.h"
#include "common/runtime/cuda/cuda_device.h"
#include "common/runtime/device.h"

namespace tandem::nccl {

// The memory that one rank's communicator gives out: the GPU's, as torch's buckets have it, or
// NCCL's own, registered so that collectives may work on it without a copy.
//
// To take or to free memory of a GPU waits for its peers' work. Between the launches of one
// collective on two GPUs of a process that is a deadlock, so both happen only in make() and
// free_retired(), which the communicator calls while all ranks are quiet; a buffer that goes is
// retired until then, and counts as used. Thread-safe. Shared by the communicator and its buffers,
// which may outlive it.
class Memory : public std::enable_shared_from_this<Memory> {
 public:
  // Throws a usage error where the library registers no memory.
  Memory(const Api& api, cuda::CudaDevice& device, CommMemory kind);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // A piece of memory on its way to being a buffer.
  struct Block {
    void* data = nullptr;
    Bytes size{};
    void* registration = nullptr;  // NCCL's handle; absent where it has none
  };

  // Zero-filled. Throws out-of-memory. NCCL wants it registered on all ranks, or used on none.
  [[nodiscard]] Block make(Bytes size, Handle& handle);

  [[nodiscard]] std::unique_ptr<Buffer> as_buffer(const Block& block);

  // A buffer's end, at any time and on any thread.
  void retire(const Block& block) noexcept;

  // Frees what was retired; `handle` may be absent, where its communicator is gone.
  void free_retired(Handle* handle);

  // From now on buffers free their memory themselves.
  void close();

 private:
  void take(Block& block);
  void enlist(Block& block, Handle& handle);
  void unregister(Block& block, Handle& handle);
  void free(const Block& block) noexcept;
  [[nodiscard]] Error refused(Bytes size, const std::string& reason) const;

  const Api& api_;
  cuda::CudaDevice& device_;
  const CommMemory kind_;
  std::mutex mutex_;  // guards all below
  std::vector<Block> retired_;
  bool closed_ = false;
};

}  // namespace tandem::nccl
