// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/comm/bootstrap.h"

namespace tandem {

// Which ranks of a job share a node. Nodes are numbered in the order of their lowest ranks.
struct NodeLayout {
  std::vector<int> node_of_rank;
  std::vector<std::string> hosts;  // names, by node

  [[nodiscard]] int nodes() const { return static_cast<int>(hosts.size()); }
  [[nodiscard]] int node_of(int rank) const { return node_of_rank[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::vector<int> ranks_of(int node) const;  // ascending
  // Among the ranks of its node, from 0.
  [[nodiscard]] int local_rank(int rank) const;
  // True where every node has as many ranks.
  [[nodiscard]] bool is_even() const;
};

// What a rank says of the place that it runs at. Ranks share a node where both are equal.
struct NodeIdentity {
  std::string host;    // its name
  std::string memory;  // tells apart places of one name whose ranks could not share memory
};

[[nodiscard]] NodeLayout group_by_node(const std::vector<NodeIdentity>& ranks);

// This process's: the host name, and which boot of a kernel and which /dev/shm it sees. Ranks in
// containers of one machine thereby share a node only where they could share memory.
[[nodiscard]] NodeIdentity own_node();

// Collective; the same on all ranks.
[[nodiscard]] NodeLayout find_nodes(Bootstrap& bootstrap);

}  // namespace tandem
