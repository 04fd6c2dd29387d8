// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/comm/rendezvous.h"
#include "common/runtime/device_id.h"
#include "common/runtime/host/shared_mapping.h"

namespace tandem {

// What the ranks of a shared-memory communicator have in common beside their buffers.
struct ControlBlock {
  RendezvousState host;    // callers' threads meet here
  RendezvousState stream;  // collectives meet here
};

// A mapping that holds a control block in its initial state, on rank 0's node. Collective.
[[nodiscard]] std::shared_ptr<host::SharedMapping> map_control_block(Bootstrap& bootstrap);
[[nodiscard]] ControlBlock& control_block(const host::SharedMapping& mapping);

// Every rank's device: its port on a modelled link. Collective.
[[nodiscard]] std::vector<DeviceId> devices_of_ranks(Bootstrap& bootstrap, DeviceId mine);

}  // namespace tandem
