// SPDX-License-Identifier: Apache-2.0
//
// hwloc's view of the machine: private to this folder.
#pragma once

#include <hwloc.h>

#include <memory>

namespace tandem::host {

struct TopologyDeleter {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDeleter>;

// Loads hwloc's topology; absent where the machine does not tell its topology.
[[nodiscard]] inline Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Topology topology(raw);
  if (hwloc_topology_load(raw) != 0) return nullptr;
  return topology;
}

}  // namespace tandem::host
