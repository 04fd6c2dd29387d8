// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/comm/node_layout.h"
#include "common/runtime/nvml/nvml.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

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
