// SPDX-License-Identifier: Apache-2.0
//
// The seam between the registries of communicators and a simulation of devices (simulate/engine),
// which registers its communicators here before it makes a device.
#pragma once

#include <memory>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/comm/transports/device_team.h"

namespace tandem {

// The form of collectives of simulated devices; simulate/engine/simulated_communicator.h says more
// of each.
struct SimulatedTransport {
  // Rank 0's communicator of `ranks` ranks that all do the same work.
  std::unique_ptr<Communicator> (*make_folded)(int ranks, Device& device,
                                               const CommunicatorOptions& options);
  // The communicator of a rank that is a thread of this process.
  std::unique_ptr<Communicator> (*make_of_thread)(Bootstrap& ranks, Device& device,
                                                  const CommunicatorOptions& options);
  // The communicators of one process's devices, by rank.
  std::vector<std::unique_ptr<Communicator>> (*make_of_team)(
      const std::vector<Device*>& devices, const DeviceTeam::OptionsOf& options_of);
  // Ranks whose threads one real thread runs in turn.
  std::unique_ptr<RankGroup> (*make_ranks_in_turn)(int size);
  // Whether the simulated devices are cores, which NCCL does not serve.
  bool (*are_cores)(Device& device);
};

// Simulated devices have these communicators from now on; `transport` is kept. Thread-safe.
void register_simulated_transport(const SimulatedTransport& transport);

// The registered communicators. Throws a logic error where there are none. Thread-safe.
[[nodiscard]] const SimulatedTransport& simulated_transport();

}  // namespace tandem
