// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/timeline/timeline.h"

namespace tandem::timeline {

// Slices of a track nest or are apart, but what a GPU ran may cross: kernels of a replayed graph
// run beside each other, and a kernel may begin before the one before it has ended. Takes out of a
// sorted track as few of these as a sweep finds, and returns tracks of the same device that hold
// them: "compute beside", "compute beside 2".
[[nodiscard]] std::vector<Track> take_crossing(Track& track);

}  // namespace tandem::timeline
