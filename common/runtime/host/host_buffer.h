// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "common/runtime/buffer.h"

namespace tandem::host {

// A view of memory that `owner` keeps alive; `on_release` runs when the buffer is destroyed.
class HostBuffer final : public Buffer {
 public:
  HostBuffer(ByteSpan bytes, std::shared_ptr<void> owner, std::function<void()> on_release)
      : bytes_(bytes), owner_(std::move(owner)), on_release_(std::move(on_release)) {}
  ~HostBuffer() override {
    if (on_release_) on_release_();
  }

  [[nodiscard]] ByteSpan bytes() override { return bytes_; }

 private:
  const ByteSpan bytes_;
  const std::shared_ptr<void> owner_;  // the mapping, which buffers of one communicator share
  const std::function<void()> on_release_;
};

}  // namespace tandem::host
