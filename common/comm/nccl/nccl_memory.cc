// SPDX-License-Identifier: Apache-2.0
#include "common/comm/nccl/nccl_memory.h"

#include <utility>

namespace tandem::nccl {

class Memory::Kept final : public Buffer {
 public:
  Kept(std::shared_ptr<Memory> memory, std::unique_ptr<Buffer> buffer)
      : memory_(std::move(memory)), buffer_(std::move(buffer)) {}
  ~Kept() override { memory_->retire(std::move(buffer_)); }

  [[nodiscard]] ByteSpan bytes() override { return buffer_->bytes(); }

 private:
  const std::shared_ptr<Memory> memory_;  // shared with the communicator, which may go first
  std::unique_ptr<Buffer> buffer_;
};

std::unique_ptr<Buffer> Memory::keep(std::unique_ptr<Buffer> taken) {
  return std::make_unique<Kept>(shared_from_this(), std::move(taken));
}

void Memory::retire(std::unique_ptr<Buffer> buffer) noexcept {
  const std::lock_guard lock(mutex_);
  if (!closed_) retired_.push_back(std::move(buffer));
}

void Memory::free_retired() {
  std::vector<std::unique_ptr<Buffer>> buffers;
  const std::lock_guard lock(mutex_);
  buffers.swap(retired_);
}

void Memory::close() {
  free_retired();
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

}  // namespace tandem::nccl
