// SPDX-License-Identifier: Apache-2.0
//
// A job on several nodes within a test: threads stand in for ranks, and shared memory for the
// network.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/comm/node_layout.h"
#include "common/comm/shared_memory/shared_memory.h"
#include "common/comm/transports/hierarchical.h"

namespace tandem::test {

// The layout of ranks on hosts of these names.
[[nodiscard]] inline NodeLayout nodes_of(const std::vector<std::string>& hosts) {
  std::vector<NodeIdentity> ranks;
  for (const std::string& host : hosts) ranks.push_back({host, ""});
  return group_by_node(ranks);
}

// Collective, as make_communicator_of_nodes() is.
[[nodiscard]] inline std::unique_ptr<Communicator> make_communicator_of_threads(
    Bootstrap& world, const NodeLayout& nodes, Device& device,
    const CommunicatorOptions& options = {}) {
  const int rank = world.rank();
  CommunicatorsOfNodes parts;
  CommunicatorOptions of_part = options;
  of_part.observer = nullptr;
  of_part.part_of = parts.whole.get();
  Bootstrap& on_node = *parts.bootstraps.emplace_back(world.split(nodes.node_of(rank)));
  Bootstrap& between =
      *parts.bootstraps.emplace_back(world.split(colour_between_nodes(nodes, rank)));
  parts.node = make_shared_memory_communicator(on_node, device, of_part);
  if (meets_other_nodes(nodes, rank)) {
    parts.between = make_shared_memory_communicator(between, device, of_part);
  }
  parts.world = make_shared_memory_communicator(world, device, of_part);
  return make_hierarchical_communicator(nodes, std::move(parts), options);
}

}  // namespace tandem::test
