// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/timeline/timeline.h"

namespace tandem::timeline {

// Sorts the slices by beginning; a slice that contains other slices comes before these.
void sort_slices(Track& track);

// Adds to a sorted stream's operations the layers that consecutive operations of a phase belong to.
// The track stays sorted.
void add_layers(Track& track);

// Slices of a track nest or are apart, but slices that a GPU ran may cross: a kernel may begin
// before the preceding kernel has ended. Takes out of a sorted track as few of these slices as a
// sweep finds, and returns tracks of the same device that hold the slices: "compute beside",
// "compute beside 2".
[[nodiscard]] std::vector<Track> split_crossing(Track& track);

}  // namespace tandem::timeline
