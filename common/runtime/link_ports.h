// SPDX-License-Identifier: Apache-2.0
//
// When the ports of a modelled link are free. Plain data in memory that all ranks of a node see, so
// that transfers of different processes compete for a port like any others; zero is the initial
// state. All functions are safe from any thread of any process that maps it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "common/runtime/device_id.h"
#include "common/runtime/host/parking.h"

namespace tandem {

constexpr int kMaxLinkDevices = 64;

struct LinkPorts {
  struct Port {
    std::int64_t egress_free = 0;  // nanoseconds of Clock
    std::int64_t ingress_free = 0;
  };
  alignas(64) host::Word lock{0};                // parked on by those who find it taken
  std::array<Port, kMaxLinkDevices + 1> port{};  // the last is the host's

  [[nodiscard]] Port& of(DeviceId device);
};

// Takes the sender's egress and the receiver's ingress for `duration`, both at once, as soon as
// they are free and not before `ready`. Returns when the transfer is over.
[[nodiscard]] TimePoint reserve_transfer(LinkPorts& ports, DeviceId from, DeviceId to,
                                         TimePoint ready, Nanoseconds duration);

// The same for a collective: all ports of `devices`, in both directions.
[[nodiscard]] TimePoint reserve_collective(LinkPorts& ports, std::span<const DeviceId> devices,
                                           TimePoint ready, Nanoseconds duration);

}  // namespace tandem
