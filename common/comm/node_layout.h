// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/comm/bootstrap.h"

namespace tandem {

// The ranks of a job by node. Nodes are numbered in the order of their lowest ranks.
struct NodeLayout {
  std::vector<int> node_of_rank;
  std::vector<std::string> hosts;  // host names, by node

  [[nodiscard]] int nodes() const { return static_cast<int>(hosts.size()); }
  [[nodiscard]] int node_of(int rank) const { return node_of_rank[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::vector<int> ranks_of(int node) const;  // ascending
  // The rank's number among the ranks of its node, from 0.
  [[nodiscard]] int local_rank(int rank) const;
};

// The node of a rank, as that rank describes it. Two ranks share a node where both fields are
// equal.
struct NodeIdentity {
  std::string host;    // the host's name
  std::string memory;  // differs where ranks of one host name cannot share memory
};

[[nodiscard]] NodeLayout group_by_node(const std::vector<NodeIdentity>& ranks);

// This process's identity: the host name, the kernel's boot and the /dev/shm that the process sees.
// So ranks in containers of one machine share a node only where they can share memory.
[[nodiscard]] NodeIdentity own_node();

// Collective; the same on all ranks.
[[nodiscard]] NodeLayout find_nodes(Bootstrap& bootstrap);

}  // namespace tandem
