// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/comm/node_layout.h"
#include "common/runtime/nvml/nvml.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// Collective: where the threads and the pinned memory of this process's devices belong, in their
// order. `gpus` is what each lies on (Device::hardware()); `nvml`, which may be absent, says what
// is near it. All devices of a node share its cores (share_cores()): those that any of its ranks
// may use, so that a launcher that binds each rank to one core gives them all.
[[nodiscard]] std::vector<NearHost> find_near_hosts(Bootstrap& bootstrap, const NodeLayout& nodes,
                                                    const std::vector<std::string>& gpus,
                                                    const nvml::Nvml* nvml);

}  // namespace tandem::bench
