// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/comm/node_layout.h"

namespace tandem::bench {

// How many of the job's processes work on this one's GPU, itself among them: 1 where it has the GPU
// to itself, or works on the host (`gpu` empty). Collective. Unless `oversubscribe`, a usage error
// on all ranks where any two share one: by what the GPUs are, not by their numbers, since each
// process may be shown others.
enum class Sharing { kRefused, kAllowed };
[[nodiscard]] int processes_on_gpu(Bootstrap& bootstrap, const NodeLayout& nodes,
                                   const std::string& gpu, Sharing sharing);

}  // namespace tandem::bench
