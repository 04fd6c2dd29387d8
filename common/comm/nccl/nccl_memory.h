// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "common/runtime/cuda/cuda_device.h"
#include "common/runtime/device.h"

namespace tandem::nccl {

// The memory that one rank's communicator gives out: the GPU's, as torch's buckets have it.
//
// To take or to free memory of a GPU waits for its peers' work. Between the launches of one
// collective on two GPUs of a process that is a deadlock, so both happen only in make() and
// free_retired(), which the communicator calls while all ranks are quiet; a buffer that goes is
// retired until then, and counts as used. Thread-safe. Shared by the communicator and its buffers,
// which may outlive it.
class Memory : public std::enable_shared_from_this<Memory> {
 public:
  explicit Memory(cuda::CudaDevice& device) : device_(device) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // A piece of memory on its way to being a buffer.
  struct Block {
    void* data = nullptr;
    Bytes size{};
  };

  // Zero-filled. Throws out-of-memory.
  [[nodiscard]] Block make(Bytes size);

  [[nodiscard]] std::unique_ptr<Buffer> as_buffer(const Block& block);

  // A buffer's end, at any time and on any thread.
  void retire(const Block& block) noexcept;

  // Frees what was retired.
  void free_retired();

  // From now on buffers free their memory themselves.
  void close();

 private:
  void take(Block& block);
  void free(const Block& block) noexcept;
  [[nodiscard]] Error refused(Bytes size, const std::string& reason) const;

  cuda::CudaDevice& device_;
  std::mutex mutex_;  // guards all below
  std::vector<Block> retired_;
  bool closed_ = false;
};

}  // namespace tandem::nccl
