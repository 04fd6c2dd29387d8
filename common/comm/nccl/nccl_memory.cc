// SPDX-License-Identifier: Apache-2.0
#include "common/comm/nccl/nccl_memory.h"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "common/base/error.h"
#include "common/comm/nccl/nccl_api.h"
#include "common/runtime/cuda/check.h"

namespace tandem::nccl {
namespace {

std::size_t count_of(Bytes size) { return static_cast<std::size_t>(size.value); }

class NcclBuffer final : public Buffer {
 public:
  NcclBuffer(std::shared_ptr<Memory> memory, const Memory::Block& block, DeviceId device)
      : memory_(std::move(memory)), block_(block), device_(device) {}
  ~NcclBuffer() override { memory_->retire(block_); }

  [[nodiscard]] ByteSpan bytes() override {
    return {static_cast<std::byte*>(block_.data), block_.size.value, device_};
  }

 private:
  const std::shared_ptr<Memory> memory_;  // shared with the communicator, which may go first
  const Memory::Block block_;
  const DeviceId device_;
};

}  // namespace

Memory::Memory(const Api& api, cuda::CudaDevice& device, CommMemory kind)
    : api_(api), device_(device), kind_(kind) {
  if (kind == CommMemory::kDevice || api.has_memory()) return;
  fail(ErrorKind::kUsage,
       "--comm-memory=registered needs NCCL 2.19 or newer, and this one is older: leave it out");
}

Error Memory::refused(Bytes size, const std::string& reason) const {
  const Bytes left = device_.gpu().free_memory();
  if (size <= left) return {ErrorKind::kFailure, reason};
  return {ErrorKind::kOutOfMemory,
          fmt::format("{} is out of memory: {} asked, {} left on its GPU; use a smaller model or "
                      "batch, or end what else runs there",
                      to_string(device_.id()), to_string(size), to_string(left))};
}

void Memory::take(Block& block) {
  const int gpu = device_.gpu().ordinal();
  const cuda::DeviceGuard here(gpu);
  if (kind_ == CommMemory::kRegistered) {
    const ncclResult_t result = api_.mem_alloc(&block.data, count_of(block.size));
    if (result == ncclSuccess) return;
    static_cast<void>(cudaGetLastError());  // NCCL's calls may have left one
    throw refused(block.size, error_of(api_, result, "ncclMemAlloc").what());
  }
  const cudaError_t status = cudaMalloc(&block.data, count_of(block.size));
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw refused(block.size, cuda::describe(status, "cudaMalloc", gpu));
}

Memory::Block Memory::make(Bytes size, Handle& handle) {
  TANDEM_CHECK(size.value >= 0, "{} bytes asked", size.value);
  Block block{.size = size};
  device_.account().charge(size);
  const auto error = capture_error([&] {
    if (size.value == 0) return;
    device_.gpu().throw_if_failed();
    take(block);
    device_.gpu().zero_now(block.data, size);
    if (kind_ == CommMemory::kRegistered) enlist(block, handle);
  });
  if (!error) return block;
  free(block);
  throw Error(*error);
}

void Memory::enlist(Block& block, Handle& handle) {
  handle.run({.sequence = 0, .name = "ncclCommRegister", .size = block.size}, [&](ncclComm_t comm) {
    check(api_, api_.comm_register(comm, block.data, count_of(block.size), &block.registration),
          "ncclCommRegister");
  });
}

void Memory::unregister(Block& block, Handle& handle) {
  if (block.registration == nullptr) return;
  handle.run({.sequence = 0, .name = "ncclCommDeregister", .size = block.size},
             [&](ncclComm_t comm) {
               check(api_, api_.comm_deregister(comm, std::exchange(block.registration, nullptr)),
                     "ncclCommDeregister");
             });
}

std::unique_ptr<Buffer> Memory::as_buffer(const Block& block) {
  return std::make_unique<NcclBuffer>(shared_from_this(), block, device_.id());
}

void Memory::free(const Block& block) noexcept {
  if (block.data != nullptr) {
    const int gpu = device_.gpu().ordinal();
    const cuda::DeviceGuard here(gpu, std::nothrow);
    if (kind_ == CommMemory::kRegistered) {
      static_cast<void>(api_.mem_free(block.data));  // after a lost context there is nobody to tell
    } else {
      TANDEM_CUDA_NOTHROW(gpu, cudaFree(block.data));
    }
  }
  device_.account().release(block.size);
}

void Memory::retire(const Block& block) noexcept {
  const std::lock_guard lock(mutex_);
  if (closed_) return free(block);
  retired_.push_back(block);
}

void Memory::free_retired(Handle* handle) {
  std::vector<Block> blocks;
  {
    const std::lock_guard lock(mutex_);
    blocks.swap(retired_);
  }
  for (Block& block : blocks) {
    if (handle != nullptr) {
      // Freed all the same: a registration that fails to go is the communicator's trouble.
      static_cast<void>(capture_error([&] { unregister(block, *handle); }));
    }
    free(block);
  }
}

void Memory::close() {
  free_retired(nullptr);
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

}  // namespace tandem::nccl
