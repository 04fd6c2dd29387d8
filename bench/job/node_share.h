// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/job/job.h"
#include "common/base/units.h"
#include "common/comm/bootstrap.h"
#include "common/comm/node_layout.h"

namespace tandem::bench {

// The share that this rank's node gives to the job.
struct NodeShare {
  int devices = 1;         // the job's devices on this node
  int device = 0;          // this rank's device on this node; in a job of threads, the first device
  std::vector<int> cores;  // OS numbers that the ranks of this node may use, ascending
  // The capacities of this node's devices, as PlatformOptions wants them: as asked for, or empty.
  std::vector<Bytes> asked_memory;
  // A device's even share of the memory that is left on the node that has least: the same on every
  // rank, so that a model that does not fit fails on all ranks at the same call.
  Bytes even_memory;
  std::vector<int> cores_of_devices;  // of all the job's devices: OS numbers on their own nodes
  int usable_cores = 0;               // cores of all nodes together
};

// The share that the node of this rank gives to the job. Throws a usage error on all ranks where
// the number of capacities does not go with the devices. Collective.
[[nodiscard]] NodeShare share_of_node(Bootstrap& bootstrap, const NodeLayout& nodes,
                                      const PlaceOptions& options);

}  // namespace tandem::bench
