// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "common/runtime/device.h"
#include "common/runtime/span.h"

namespace tandem::host {

// Memory on one device that the operations of one stream use in turn, grown to the largest need.
// Used by one thread at a time. Queued work that uses a piece of the memory may outlive this
// object.
class Scratch {
 public:
  explicit Scratch(Device& device) : device_(device) {}

  struct Memory {
    std::shared_ptr<Buffer> owner;  // shared with queued work and, until it grows, the Scratch
    Span<std::byte> bytes;          // the size asked for
  };
  [[nodiscard]] Memory of(Bytes size) {
    if (size > size_) {
      memory_ = device_.allocate(size);
      size_ = size;
    }
    return {memory_, memory_ ? memory_->bytes().subspan(0, size.value) : ByteSpan{}};
  }

 private:
  Device& device_;
  std::shared_ptr<Buffer> memory_;
  Bytes size_;
};

// An operation that is ready to run: its body runs later on a stream's worker, once.
struct PreparedWork {
  Span<std::byte> scratch;  // written while `body` runs; may be empty
  std::function<void()> body;
};

}  // namespace tandem::host
