// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/comm/node_layout.h"

namespace tandem {

// What a hierarchical communicator is made of.
struct CommunicatorsOfNodes {
  // What the communicators below are a part of: the whole operation that is being enqueued. They
  // are made with this in their options.
  std::unique_ptr<CollectiveCall> whole = std::make_unique<CollectiveCall>();
  std::vector<std::unique_ptr<Bootstrap>> bootstraps;  // of the communicators: they go last
  std::unique_ptr<Communicator> node;                  // this rank's node, by local rank
  // Those of the same local rank, one per node, by node. Where nodes have unlike numbers of ranks:
  // the last rank of each node, and absent elsewhere.
  std::unique_ptr<Communicator> between;
  std::unique_ptr<Communicator> world;
};

// The colours with which ranks split into those that have a `between` in common.
[[nodiscard]] int colour_between_nodes(const NodeLayout& nodes, int rank);

// True where this rank has one.
[[nodiscard]] bool meets_other_nodes(const NodeLayout& nodes, int rank);

// Ranks of several nodes. All-reduce: within each node every rank reduces its share, then
// all-reduces that with its peers on the other nodes, and the node gathers the shares: each byte
// crosses the network once per node, not once per rank. Elements that no even share takes, and all
// of them where nodes have unlike numbers of ranks, go through the last rank of each node. Averages
// are scaled once, after the last sum; 16-bit sums are rounded within the node and again between
// nodes.
//
// All other operations are the world communicator's; memory is the node's. The observer is told of
// whole operations, not of their parts, and messages name those. Ranks whose all-reduces differ may
// find out one by one, as their parts do; OrderCheck::kAlways compares whole operations among all
// ranks first. Host streams only.
[[nodiscard]] std::unique_ptr<Communicator> make_hierarchical_communicator(
    const NodeLayout& nodes, CommunicatorsOfNodes parts, const CommunicatorOptions& options = {});

}  // namespace tandem
