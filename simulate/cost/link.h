// SPDX-License-Identifier: Apache-2.0
//
// How long transfers take over a link.
#pragma once

#include "common/base/units.h"

namespace tandem {

// A link on which S bytes take a + S/B: `latency` is a, `bytes_per_second` is B, per direction.
struct LinkModel {
  Nanoseconds latency{0};
  double bytes_per_second = 0;  // above 0

  bool operator==(const LinkModel&) const = default;
};

// The time of S bytes from one port to another: a + S/B.
[[nodiscard]] Nanoseconds transfer_time(const LinkModel& link, Bytes size);

// The times of collectives among `ranks` ports; `size` is what each rank holds. A world of one
// transfers nothing.

// One pass around the ring, in which each step carries an n-th part: (n-1)(a + S/(nB)). An
// all-gather or a reduce-scatter is one pass with all ranks' parts together; an all-reduce is two.
[[nodiscard]] Nanoseconds ring_pass_time(const LinkModel& link, Bytes size, int ranks);

// The time of a broadcast or reduction along a chain, cut so finely that only the latencies add up.
[[nodiscard]] Nanoseconds pipelined_time(const LinkModel& link, Bytes size, int ranks);

}  // namespace tandem
