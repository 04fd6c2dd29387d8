// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "common/runtime/device.h"
#include "common/runtime/host/host_stream.h"
#include "common/runtime/stream.h"

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
  [[nodiscard]] Memory of(Bytes size);

 private:
  Device& device_;
  std::shared_ptr<Buffer> memory_;
  Bytes size_;
};

// Checks the operation, then enqueues the result of `prepare()`: scratch memory and a body that
// writes this memory. The memory is declared as written too: a second stream that used the same
// operations at the same time would be seen as the race it is, and a stream of another device is
// refused.
template <class Op, class Prepare>
void enqueue_prepared(Stream& stream, const char* name, const Op& op, const Prepare& prepare) {
  check_sizes(op);
  HostStream& queue = host_stream(stream);
  std::vector<Access> all = accesses(op);
  check_placement(name, stream.device(), all);  // before prepare() sees operands of another device
  auto [scratch, body] = prepare();
  all.push_back(writes(scratch));
  queue.enqueue({name, std::move(all), std::move(body)});
}

}  // namespace tandem::host
