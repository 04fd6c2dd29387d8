// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/timeline/clocks.h"
#include "common/timeline/timeline.h"

namespace tandem::timeline {

// Moves the process's times to rank 0's clock.
void align(Process& process, const ClockFit& clock);

// Matches the collectives of one sequence number, and sets in each how the ranks, or the devices of
// a process, came together. All processes must be on one clock.
void match_collectives(Trace& trace);

// Sorts the slices by beginning; a slice that contains other slices comes before these.
void sort_slices(Track& track);

// Adds to a sorted stream's operations the layers that consecutive operations of a phase belong to.
// The track stays sorted.
void add_layers(Track& track);

}  // namespace tandem::timeline
