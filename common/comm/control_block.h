// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/comm/rendezvous.h"
#include "common/runtime/device_id.h"
#include "common/runtime/host/shared_mapping.h"

namespace tandem {

// Where the streams of two ranks meet for a message, by the order of their ranks.
using PairArrivals = std::array<RendezvousState::Arrival, 2>;

// What the ranks of a shared-memory communicator have in common beside their buffers.
struct ControlBlock {
  RendezvousState host;    // callers' threads meet here
  RendezvousState stream;  // collectives meet here
  std::array<PairArrivals, kMaxRanks*(kMaxRanks - 1) / 2> pairs;

  // Of two different ranks, in either order.
  [[nodiscard]] PairArrivals& pair(int a, int b);
};

// A mapping that holds a control block in its initial state, on rank 0's node. Collective.
[[nodiscard]] std::shared_ptr<host::SharedMapping> map_control_block(Bootstrap& bootstrap);
[[nodiscard]] ControlBlock& control_block(const host::SharedMapping& mapping);

// Every rank's device: its port on a modelled link. Collective.
[[nodiscard]] std::vector<DeviceId> devices_of_ranks(Bootstrap& bootstrap, DeviceId mine);

}  // namespace tandem
