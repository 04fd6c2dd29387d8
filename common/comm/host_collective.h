// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "common/comm/collective_checks.h"
#include "common/comm/collective_observer.h"
#include "common/comm/communicator.h"
#include "common/runtime/access.h"
#include "common/runtime/host/host_link.h"
#include "common/runtime/stream.h"

namespace tandem {

// A collective as a host stream's worker carries it out, whatever the transport.
struct HostCollective {
  const char* name = "";  // a literal: "all_reduce"
  Bytes size;             // of this rank's part
  // This rank's memory. Peers' is not declared: accesses are reported when the operation starts,
  // which is before the ranks have met.
  std::vector<Access> accesses{};
  // Takes when it is ready by the link model and returns when it ends; both mean nothing without.
  std::function<host::ModelledTime(const host::ModelledTime& ready)> body{};
};

// Queues one rank's collectives: numbers them, tells the observer, and puts the collective's name
// and number before what goes wrong in it. Used by one thread at a time.
class CollectiveQueue {
 public:
  // `abort` is called where a collective is dropped because its stream has failed: this rank will
  // not come, and those who would wait for it are told.
  CollectiveQueue(const CommunicatorOptions& options, std::function<void()> abort)
      : observer_(options.observer), part_of_(options.part_of), abort_(std::move(abort)) {}

  // Over a modelled link it is a transfer, else an operation.
  void enqueue(Stream& stream, HostCollective collective);

  // What the one that is enqueued next is called in messages.
  [[nodiscard]] CollectiveCall next(const char* name, Bytes size) const {
    if (part_of_ != nullptr) return *part_of_;
    return {.sequence = enqueued_ + 1, .name = name, .size = size};
  }

 private:
  CollectiveObserver* const observer_;   // may be absent
  const CollectiveCall* const part_of_;  // may be absent
  const std::function<void()> abort_;
  std::uint64_t enqueued_ = 0;
};

}  // namespace tandem
