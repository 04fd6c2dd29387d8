// SPDX-License-Identifier: Apache-2.0
#include "bench/job/node_share.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "bench/driver/comma_list.h"
#include "common/base/error.h"
#include "common/runtime/host/cores.h"
#include "common/runtime/host/host_memory.h"

namespace tandem::bench {
namespace {

using Cores = std::vector<int>;

Cores cores_of(const std::string& text) {
  Cores cores;
  for (const std::string& core : parts_of(text)) cores.push_back(std::stoi(core));
  return cores;
}

// The cores that any rank of a node may use, by node and in OS order: a launcher that binds each
// rank to one core thereby gives the job all of the cores.
std::vector<Cores> cores_of_nodes(Bootstrap& bootstrap, const NodeLayout& nodes) {
  const std::string mine = fmt::format("{}", fmt::join(host::allowed_cores(), ","));
  const std::vector<std::string> by_rank = bootstrap.all_gather(mine);
  std::vector<Cores> all;
  for (int node = 0; node < nodes.nodes(); ++node) {
    std::set<int> cores;
    for (const int rank : nodes.ranks_of(node)) {
      const Cores theirs = cores_of(by_rank[static_cast<std::size_t>(rank)]);
      cores.insert(theirs.begin(), theirs.end());
    }
    all.emplace_back(cores.begin(), cores.end());
  }
  return all;
}

Bytes least_share_of_memory(Bootstrap& bootstrap, int devices_here) {
  const Bytes mine{host::available_memory().value / devices_here};
  Bytes least = mine;
  for (const std::string& theirs : bootstrap.all_gather(std::to_string(mine.value))) {
    least = std::min(least, Bytes{std::stoll(theirs)});
  }
  return least;
}

// The capacities of this node's devices: options list capacities by the job's devices, and a
// platform knows its own node's devices.
std::vector<Bytes> memory_here(const NodeLayout& nodes, int node, const PlaceOptions& options) {
  const std::vector<Bytes>& asked = options.device_memory;
  if (nodes.nodes() == 1 || asked.size() <= 1) return asked;
  if (static_cast<int>(asked.size()) != options.devices) {
    fail(ErrorKind::kUsage,
         "--device-memory names {} capacities for {} devices: give one, or one each", asked.size(),
         options.devices);
  }
  std::vector<Bytes> here;
  for (const int rank : nodes.ranks_of(node)) here.push_back(asked[static_cast<std::size_t>(rank)]);
  return here;
}

int core_of(const std::vector<int>& cores, int device) {
  return cores[static_cast<std::size_t>(device) % cores.size()];
}

}  // namespace

NodeShare share_of_node(Bootstrap& bootstrap, const NodeLayout& nodes,
                        const PlaceOptions& options) {
  const bool ranks_are_devices = options.launch == Launch::kProcesses;
  const int node = nodes.node_of(bootstrap.rank());
  const std::vector<Cores> cores = cores_of_nodes(bootstrap, nodes);
  NodeShare share;
  share.devices =
      ranks_are_devices ? static_cast<int>(nodes.ranks_of(node).size()) : options.devices;
  share.device = ranks_are_devices ? nodes.local_rank(bootstrap.rank()) : 0;
  share.cores = cores[static_cast<std::size_t>(node)];
  share.even_memory = least_share_of_memory(bootstrap, std::max(1, share.devices));
  share.asked_memory = memory_here(nodes, node, options);
  for (const Cores& of_node : cores) share.usable_cores += static_cast<int>(of_node.size());
  for (int device = 0; device < options.devices; ++device) {
    const bool is_rank = ranks_are_devices && device < bootstrap.size();
    const int on = is_rank ? nodes.node_of(device) : node;
    share.cores_of_devices.push_back(
        core_of(cores[static_cast<std::size_t>(on)], is_rank ? nodes.local_rank(device) : device));
  }
  return share;
}

}  // namespace tandem::bench
