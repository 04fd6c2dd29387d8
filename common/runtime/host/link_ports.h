// SPDX-License-Identifier: Apache-2.0
//
// The ports of a modelled link. Every device, and the host, has one full-duplex port: an egress and
// an ingress, each busy with one transfer at a time.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "common/base/units.h"
#include "common/runtime/host/parking.h"
#include "common/runtime/span.h"

namespace tandem {

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
