// SPDX-License-Identifier: Apache-2.0
//
// The transfers of dp as collectives among its devices, as torch makes them where NCCL serves all
// devices: for each chunk one call of every device, together, on the replicas' own streams. The
// wait for other devices is part of the phase.
#pragma once

#include <memory>
#include <vector>

#include "common/comm/transports/device_team.h"
#include "dp/options.h"
#include "dp/reduce.h"
#include "dp/replicate.h"

namespace tandem::dp {

// torch's broadcast_coalesced with NCCL: the root flattens each chunk that needs flattening, and
// the chunk goes to all other devices' arenas. `team` has a rank for each replica, in the replicas'
// order, and outlives the broadcast.
[[nodiscard]] std::unique_ptr<Broadcast> make_collective_broadcast(
    DeviceTeam& team, const std::vector<Replica*>& replicas, const std::vector<Span<float>>& arenas,
    const std::vector<Chunk>& chunks);

// torch's reduce_add_coalesced with NCCL: every device flattens its chunks, each of which is then
// summed into the root's memory, in device order on the host and in NCCL's order on GPUs. The
// gradients themselves stay as they are.
[[nodiscard]] std::unique_ptr<ReduceToRoot> make_collective_reduce(DeviceTeam& team,
                                                                   const Gradients& gradients,
                                                                   const ParameterLayout& layout,
                                                                   Bytes chunk_limit);

// The order that kTorch stands for on these devices; any other order stays as it is.
[[nodiscard]] Order resolved(Order order, const std::vector<Device*>& devices);

}  // namespace tandem::dp
