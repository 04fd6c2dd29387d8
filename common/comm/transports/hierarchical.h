// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/comm/node_layout.h"

namespace tandem {

// The parts of a hierarchical communicator.
struct CommunicatorsOfNodes {
  // The whole operation that is being enqueued. The options of the communicators below point to
  // this call as their `part_of`.
  std::unique_ptr<CollectiveCall> whole = std::make_unique<CollectiveCall>();
  // The bootstraps of the communicators below, which are destroyed before their bootstraps.
  std::vector<std::unique_ptr<Bootstrap>> bootstraps;
  std::unique_ptr<Communicator> node;  // ranks of this rank's node, by local rank
  // The ranks of the same local rank, one per node, by node. Where nodes have unlike numbers of
  // ranks: the last rank of each node, and null on the other ranks.
  std::unique_ptr<Communicator> between;
  std::unique_ptr<Communicator> world;
};

// This rank's colour of the split in which ranks with a `between` in common have one colour.
[[nodiscard]] int colour_between_nodes(const NodeLayout& nodes, int rank);

// True where this rank has a `between` communicator.
[[nodiscard]] bool meets_other_nodes(const NodeLayout& nodes, int rank);

// A communicator among ranks of several nodes. All-reduce: every rank reduces its share within the
// node, all-reduces that share with its peers on the other nodes, and the node gathers the shares.
// So each byte crosses the network once per node, not once per rank. Elements beyond an even
// division into shares, and all elements where nodes have unlike numbers of ranks, go through the
// last rank of each node. Averages are scaled once, after the last sum; 16-bit sums are rounded
// within the node and again between nodes.
//
// All other operations are the world communicator's; memory is the node's. The observer is told of
// whole operations, not of their parts, and messages name whole operations. Ranks whose all-reduces
// differ may fail one by one, as their parts fail; OrderCheck::kAlways compares whole operations
// among all ranks first. Host streams only.
[[nodiscard]] std::unique_ptr<Communicator> make_hierarchical_communicator(
    const NodeLayout& nodes, CommunicatorsOfNodes parts, const CommunicatorOptions& options = {});

// The hierarchical communicator of ranks that are processes: shared memory within a node, MPI
// between nodes. Collective; `world` and `device`, which is this rank's host device, outlive the
// communicator.
[[nodiscard]] std::unique_ptr<Communicator> make_communicator_of_nodes(
    Bootstrap& world, const NodeLayout& nodes, Device& device,
    const CommunicatorOptions& options = {});

}  // namespace tandem
