// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/timeline/clocks.h"
#include "common/timeline/timeline.h"

namespace tandem::timeline {

// On rank 0's clock.
void align(Process& process, const ClockFit& clock);

// Collectives of one sequence number are one: says of each how its ranks, or devices of a process,
// came together. Processes on one clock.
void match_collectives(Trace& trace);

// By their beginnings, those that hold others first.
void sort_slices(Track& track);

// Adds to a stream's operations the layers that consecutive ones of a phase belong to. Sorted.
void add_layers(Track& track);

}  // namespace tandem::timeline
