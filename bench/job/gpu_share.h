// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/comm/node_layout.h"

namespace tandem::bench {

// How many of the job's processes work on this process's GPU, itself among them: 1 where the
// process has the GPU to itself, or works on the host (`gpu` empty). Throws a usage error on all
// ranks where any two processes share a GPU and sharing is refused; GPUs are told apart by
// hardware, not by number, since each process may be shown other GPUs. Collective.
enum class Sharing { kRefused, kAllowed };
[[nodiscard]] int processes_on_gpu(Bootstrap& bootstrap, const NodeLayout& nodes,
                                   const std::string& gpu, Sharing sharing);

}  // namespace tandem::bench
