// SPDX-License-Identifier: Apache-2.0
#include "common/comm/nccl/nccl_memory.h"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "common/base/error.h"
#include "common/runtime/cuda/check.h"

namespace tandem::nccl {
namespace {

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
  const cudaError_t status = cudaMalloc(&block.data, static_cast<std::size_t>(block.size.value));
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw refused(block.size, cuda::describe(status, "cudaMalloc", gpu));
}

Memory::Block Memory::make(Bytes size) {
  TANDEM_CHECK(size.value >= 0, "{} bytes asked", size.value);
  Block block{.size = size};
  device_.account().charge(size);
  const auto error = capture_error([&] {
    if (size.value == 0) return;
    device_.gpu().throw_if_failed();
    take(block);
    device_.gpu().zero_now(block.data, size);
  });
  if (!error) return block;
  free(block);
  throw Error(*error);
}

std::unique_ptr<Buffer> Memory::as_buffer(const Block& block) {
  return std::make_unique<NcclBuffer>(shared_from_this(), block, device_.id());
}

void Memory::free(const Block& block) noexcept {
  if (block.data != nullptr) {
    const int gpu = device_.gpu().ordinal();
    const cuda::DeviceGuard here(gpu, std::nothrow);
    TANDEM_CUDA_NOTHROW(gpu, cudaFree(block.data));
  }
  device_.account().release(block.size);
}

void Memory::retire(const Block& block) noexcept {
  const std::lock_guard lock(mutex_);
  if (closed_) return free(block);
  retired_.push_back(block);
}

void Memory::free_retired() {
  std::vector<Block> blocks;
  {
    const std::lock_guard lock(mutex_);
    blocks.swap(retired_);
  }
  for (const Block& block : blocks) free(block);
}

void Memory::close() {
  free_retired();
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

}  // namespace tandem::nccl
