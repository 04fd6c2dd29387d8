// SPDX-License-Identifier: Apache-2.0
#include "common/comm/node_layout.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "common/base/system_files.h"
#include "common/base/this_process.h"

namespace tandem {

std::vector<int> NodeLayout::ranks_of(int node) const {
  std::vector<int> ranks;
  for (int rank = 0; rank < static_cast<int>(node_of_rank.size()); ++rank) {
    if (node_of(rank) == node) ranks.push_back(rank);
  }
  return ranks;
}

int NodeLayout::local_rank(int rank) const {
  return static_cast<int>(
      std::count(node_of_rank.begin(), node_of_rank.begin() + rank, node_of(rank)));
}

NodeLayout group_by_node(const std::vector<NodeIdentity>& ranks) {
  NodeLayout layout;
  std::vector<const NodeIdentity*> known;
  for (const NodeIdentity& rank : ranks) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const NodeIdentity* other) {
      return other->host == rank.host && other->memory == rank.memory;
    });
    layout.node_of_rank.push_back(static_cast<int>(found - known.begin()));
    if (found != known.end()) continue;
    known.push_back(&rank);
    layout.hosts.push_back(rank.host);
  }
  return layout;
}

NodeIdentity own_node() {
  struct stat shared {};
  const bool has_shared = stat("/dev/shm", &shared) == 0;
  // The identifier changes with each boot; "" where the kernel gives none.
  const std::string boot = first_line("/proc/sys/kernel/random/boot_id");
  return {host_name(), fmt::format("{} {}", boot, has_shared ? shared.st_dev : 0)};
}

NodeLayout find_nodes(Bootstrap& bootstrap) {
  const NodeIdentity mine = own_node();
  const std::vector<std::string> hosts = bootstrap.all_gather(mine.host);
  const std::vector<std::string> memories = bootstrap.all_gather(mine.memory);
  std::vector<NodeIdentity> ranks;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    ranks.push_back({hosts[rank], memories[rank]});
  }
  return group_by_node(ranks);
}

}  // namespace tandem
