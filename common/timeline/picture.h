// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/timeline/timeline.h"

namespace tandem::timeline {

// The number of the step whose length is the median of the trace's, the lower one of two. A
// usage error where the trace has no whole step.
[[nodiscard]] int median_step(const Trace& trace);

// One step as an SVG picture: a row of phases for each device, below the row the collectives of
// gradients, each with the part that waited for the last rank; and the three longest waits of 1 %
// of the step or more with their causes, as `tandem trace summary` words the causes. Positions
// are milliseconds from the step's first beginning. Throws a usage error that lists the trace's
// steps where the trace lacks this step.
[[nodiscard]] std::string to_svg(const Trace& trace, int step);

}  // namespace tandem::timeline
