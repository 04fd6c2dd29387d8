// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/job/job.h"
#include "common/base/units.h"
#include "common/comm/bootstrap.h"
#include "common/comm/node_layout.h"
#include "common/runtime/nvml/nvml.h"
#include "common/runtime/platform.h"

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
                                      const JobOptions& options);

enum class Sharing { kRefused, kAllowed };

// How many of the job's processes work on this process's GPU, itself among them: 1 where the
// process has the GPU to itself, or works on the host (`gpu` empty). Throws a usage error on all
// ranks where any two processes share a GPU and sharing is refused; GPUs differ by
// hardware, not by number, since each process may be shown other GPUs. Collective.
[[nodiscard]] int processes_on_gpu(Bootstrap& bootstrap, const NodeLayout& nodes,
                                   const std::string& gpu, Sharing sharing);

struct FoundHosts {
  std::vector<NearHost> hosts{};  // hosts of this process's devices, in the devices' order
  // One line, the same on all ranks, where NVML names no CPU near some device; else empty.
  std::string warning{};
};

// Finds where the threads and the pinned memory of this process's devices belong. `gpus` is the
// hardware of each device (Device::hardware()); the NVML that `open_nvml` opens, which may be
// absent, names the CPUs near a GPU. All devices of a node share the cores that any rank of the
// node may use (share_cores()), so that a launcher that binds each rank to one core gives the job
// all of them. An error that one rank meets in asking its system is thrown on all ranks.
// Collective.
[[nodiscard]] FoundHosts find_near_hosts(
    Bootstrap& bootstrap, const NodeLayout& nodes, const std::vector<std::string>& gpus,
    const std::function<std::unique_ptr<nvml::Nvml>()>& open_nvml);

}  // namespace tandem::bench
