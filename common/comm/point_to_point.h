// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/comm/allocations.h"
#include "common/comm/collective_meeting.h"
#include "common/comm/control_block.h"

namespace tandem {

// Messages between two ranks of a node, as their streams' workers carry them out. Where the
// communicator allocated the sender's memory, the receiver copies from that memory itself; else the
// message passes through the sender's stage, a chunk at a time.
class PointToPoint {
 public:
  struct Side {  // this rank's facts
    int rank = 0;
    host::Sharing sharing = host::Sharing::kThreads;
    std::vector<DeviceId> devices{};  // by rank
    std::vector<int> job_ranks{};     // job ranks by rank, for messages
    Nanoseconds deadline{0};
    host::HostLink* link = nullptr;
  };
  PointToPoint(ControlBlock& control, const Side& side, const Allocations& allocations,
               Place stage);

  // The facts of an Opening for a message from rank `from` to rank `to`; the message takes
  // `duration` by the link model.
  struct Message {
    int from = 0;
    int to = 0;
    std::int64_t note = 0;
    Nanoseconds duration{0};
  };
  host::ModelledTime send(const Message& message, ConstByteSpan values,
                          const host::ModelledTime& ready);
  host::ModelledTime receive(const Message& message, ByteSpan values,
                             const host::ModelledTime& ready);

 private:
  [[nodiscard]] CollectiveMeeting& meeting_with(int peer) {
    return *meetings_[static_cast<std::size_t>(peer)];
  }

  const int rank_;
  const Allocations& allocations_;
  const Place stage_;
  std::vector<std::unique_ptr<CollectiveMeeting>> meetings_;  // by peer; null at this rank
};

}  // namespace tandem
