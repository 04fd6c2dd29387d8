// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/job.h"
#include "common/base/units.h"
#include "common/comm/bootstrap.h"
#include "common/comm/node_layout.h"

namespace tandem::bench {

// What this rank's node gives to the job.
struct NodeShare {
  int devices = 1;         // the job's on this node
  int device = 0;          // this rank's, of those; of threads, the first
  std::vector<int> cores;  // OS numbers that the ranks of this node may use, ascending
  // Capacities of those devices, as PlatformOptions wants them: as asked for, or empty.
  std::vector<Bytes> asked_memory;
  // A device's even share of what is left, of the node that has least: the same on every rank, so
  // that what does not fit fails on all of them at the same call.
  Bytes even_memory;
  std::vector<int> cores_of_devices;  // all of the job's, in their order: OS numbers on their nodes
  int usable_cores = 0;               // of all nodes together
};

// Collective. Throws a usage error, on all ranks, where capacities do not go with the devices.
[[nodiscard]] NodeShare share_of_node(Bootstrap& bootstrap, const NodeLayout& nodes,
                                      const PlaceOptions& options);

}  // namespace tandem::bench
