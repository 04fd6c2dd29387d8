// SPDX-License-Identifier: Apache-2.0
//
// How long transfers take over a modelled link, and when they start. Every device, and the host,
// has one full-duplex port: an egress and an ingress, each busy with one transfer at a time.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "common/base/units.h"
#include "common/runtime/host/parking.h"
#include "common/runtime/span.h"

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
[[nodiscard]] Nanoseconds ring_all_reduce_time(const LinkModel& link, Bytes size, int ranks);

// The time of a broadcast or reduction along a chain, cut so finely that only the latencies add up.
[[nodiscard]] Nanoseconds pipelined_time(const LinkModel& link, Bytes size, int ranks);

// The time of a whole copy to (or from) each other rank in turn, all through the root's port.
[[nodiscard]] Nanoseconds copy_loop_time(const LinkModel& link, Bytes size, int ranks);

// The start of a transfer that is ready at `ready`: at the earliest once both ports are free.
[[nodiscard]] TimePoint start_of_transfer(TimePoint ready, TimePoint egress_free,
                                          TimePoint ingress_free);

constexpr int kMaxLinkDevices = 64;

// When the ports of a modelled link are free. Plain data in memory that all ranks of a node see, so
// that transfers of different processes compete for a port as transfers of one process do; zero is
// the initial state. All functions are safe from any thread of any process that maps the memory.
struct LinkPorts {
  struct Port {
    std::int64_t egress_free = 0;  // nanoseconds of Clock
    std::int64_t ingress_free = 0;
  };
  alignas(64) host::Word lock{0};                // waiters park on this word
  std::array<Port, kMaxLinkDevices + 1> port{};  // the last port is the host's

  [[nodiscard]] Port& of(DeviceId device);
};

// Takes the sender's egress and the receiver's ingress for `duration`, both at once, as soon as
// both are free and not before `ready`. Returns the time at which the transfer is over.
[[nodiscard]] TimePoint reserve_transfer(LinkPorts& ports, DeviceId from, DeviceId to,
                                         TimePoint ready, Nanoseconds duration);

// Does the same for a collective: takes all ports of `devices`, in both directions.
[[nodiscard]] TimePoint reserve_collective(LinkPorts& ports, std::span<const DeviceId> devices,
                                           TimePoint ready, Nanoseconds duration);

}  // namespace tandem
