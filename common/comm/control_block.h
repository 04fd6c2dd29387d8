// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/comm/rendezvous.h"
#include "common/runtime/host/host_memory.h"
#include "common/runtime/span.h"

namespace tandem {

// The arrivals of two ranks' streams that meet for a message, the lower rank first.
using PairArrivals = std::array<RendezvousState::Arrival, 2>;

// The state that the ranks of a shared-memory communicator share beside their buffers.
struct ControlBlock {
  RendezvousState host;    // callers' threads meet here
  RendezvousState stream;  // collectives meet here
  std::array<PairArrivals, kMaxRanks*(kMaxRanks - 1) / 2> pairs;

  // The arrivals of ranks `a` and `b`, which differ, in either order.
  [[nodiscard]] PairArrivals& pair(int a, int b);
};

// A mapping that holds a control block in its initial state, on rank 0's node. Collective.
[[nodiscard]] std::shared_ptr<host::SharedMapping> map_control_block(Bootstrap& bootstrap);
[[nodiscard]] ControlBlock& control_block(const host::SharedMapping& mapping);

// Every rank's device, which is its port on a modelled link. Collective.
[[nodiscard]] std::vector<DeviceId> devices_of_ranks(Bootstrap& bootstrap, DeviceId mine);

}  // namespace tandem
