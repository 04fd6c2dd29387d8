// SPDX-License-Identifier: Apache-2.0
//
// Which GPUs a platform opens: pure rules over the ordinals that CUDA shows.
#pragma once

#include <vector>

#include "common/runtime/platform.h"

namespace tandem::cuda {

// The ordinals to open of `visible` ones, in the order of devices: those named, else all, and of
// these as many as there are devices; for a process with a device of its own that one's, counted
// round where there are fewer. What is named and not there is left out.
[[nodiscard]] std::vector<int> gpus_to_open(const PlatformOptions& options, int visible);

// A usage error where a name is not one of the visible GPUs', or comes twice, or where devices of
// one process would have to share GPUs unasked.
void check_gpus(const PlatformOptions& options, int visible);

}  // namespace tandem::cuda
