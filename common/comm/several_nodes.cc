// SPDX-License-Identifier: Apache-2.0
#include "common/comm/several_nodes.h"

#include <utility>

#include "common/comm/agreement.h"
#include "common/comm/hierarchical.h"
#include "common/comm/mpi_communicator.h"
#include "common/comm/shared_memory.h"

namespace tandem {

std::unique_ptr<Communicator> make_communicator_of_nodes(Bootstrap& world, const NodeLayout& nodes,
                                                         Device& device,
                                                         const CommunicatorOptions& options) {
  const int rank = world.rank();
  CommunicatorsOfNodes parts;
  // The whole operation is observed, not its parts.
  CommunicatorOptions of_part = options;
  of_part.observer = nullptr;
  of_part.part_of = parts.whole.get();
  Bootstrap& on_node = *parts.bootstraps.emplace_back(world.split(nodes.node_of(rank)));
  Bootstrap& between =
      *parts.bootstraps.emplace_back(world.split(colour_between_nodes(nodes, rank)));
  // Where one node has no room, this call fails on all nodes, before any node waits for that one.
  attempt_together(world,
                   [&] { parts.node = make_shared_memory_communicator(on_node, device, of_part); });
  if (meets_other_nodes(nodes, rank)) {
    parts.between = make_mpi_communicator(between, device, of_part);
  }
  parts.world = make_mpi_communicator(world, device, of_part);
  return make_hierarchical_communicator(nodes, std::move(parts), options);
}

}  // namespace tandem
