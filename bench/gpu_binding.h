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
  std::vector<NearHost> hosts{};  // of this process's devices, in their order
  // One line, the same on all ranks, where NVML names no CPU near some device; else empty.
  std::string warning{};
};

// Collective: where the threads and the pinned memory of this process's devices belong. `gpus` is
// what each lies on (Device::hardware()); what `open_nvml` gives, which may be absent, says what is
// near it. All devices of a node share its cores (share_cores()): those that any of its ranks may
// use, so that a launcher that binds each rank to one core gives them all. What one rank cannot ask
// of its system is thrown on all.
[[nodiscard]] FoundHosts find_near_hosts(
    Bootstrap& bootstrap, const NodeLayout& nodes, const std::vector<std::string>& gpus,
    const std::function<std::unique_ptr<nvml::Nvml>()>& open_nvml);

}  // namespace tandem::bench
