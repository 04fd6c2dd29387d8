// SPDX-License-Identifier: Apache-2.0
//
// How long transfers take over a modelled link, as pure functions. Every device, and the host, has
// one full-duplex port: an egress and an ingress that are each busy with one transfer at a time.
#pragma once

#include "common/base/clock.h"
#include "common/base/units.h"

namespace tandem {

// a + S/B: `latency` is a, `bytes_per_second` is B, per direction.
struct LinkModel {
  Nanoseconds latency{0};
  double bytes_per_second = 0;  // above 0

  bool operator==(const LinkModel&) const = default;
};

// S bytes from one port to another: a + S/B.
[[nodiscard]] Nanoseconds transfer_time(const LinkModel& link, Bytes size);

// Collectives among `ranks` ports; `size` is what each rank holds (all-gather, reduce-scatter: all
// ranks' parts together). A world of one transfers nothing.
[[nodiscard]] Nanoseconds ring_all_reduce_time(const LinkModel& link, Bytes size, int ranks);
[[nodiscard]] Nanoseconds ring_reduce_scatter_time(const LinkModel& link, Bytes size, int ranks);
[[nodiscard]] Nanoseconds ring_all_gather_time(const LinkModel& link, Bytes size, int ranks);

// Broadcast or reduction along a chain, so finely cut that only the latencies add up.
[[nodiscard]] Nanoseconds pipelined_time(const LinkModel& link, Bytes size, int ranks);

// Broadcast or reduction over a binary tree, uncut.
[[nodiscard]] Nanoseconds tree_time(const LinkModel& link, Bytes size, int ranks);

// A whole copy to (or from) each other rank in turn, all through the root's port.
[[nodiscard]] Nanoseconds copy_loop_time(const LinkModel& link, Bytes size, int ranks);

// When a transfer starts that is ready at `ready`: at the earliest once both ports are free.
[[nodiscard]] TimePoint start_of_transfer(TimePoint ready, TimePoint egress_free,
                                          TimePoint ingress_free);

}  // namespace tandem
