// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/link_ports.h"

#include "common/base/error.h"
#include "common/runtime/link_model.h"

namespace tandem {
namespace {

// A lock held for some twenty instructions; the others park while a holder is descheduled. 0 is
// free, 1 taken, 2 taken with perhaps a parked waiter.
class PortLock {
 public:
  explicit PortLock(host::Word& word) : word_(word) {
    std::uint32_t seen = 0;
    if (word_.compare_exchange_strong(seen, 1, std::memory_order_acquire)) return;
    while (word_.exchange(2, std::memory_order_acquire) != 0) {
      host::park_while(word_, 2, host::Sharing::kProcesses);
    }
  }
  ~PortLock() {
    const std::uint32_t before = word_.exchange(0, std::memory_order_release);
    if (before == 2) host::wake_all(word_, host::Sharing::kProcesses);
  }
  PortLock(const PortLock&) = delete;
  PortLock& operator=(const PortLock&) = delete;

 private:
  host::Word& word_;
};

TimePoint at(std::int64_t since_epoch) { return TimePoint(Nanoseconds(since_epoch)); }

}  // namespace

LinkPorts::Port& LinkPorts::of(DeviceId device) {
  TANDEM_CHECK(device.index < kMaxLinkDevices, "{} on a modelled link of at most {} devices",
               to_string(device), kMaxLinkDevices);
  return port[device.is_host_memory() ? port.size() - 1 : static_cast<std::size_t>(device.index)];
}

TimePoint reserve_transfer(LinkPorts& ports, DeviceId from, DeviceId to, TimePoint ready,
                           Nanoseconds duration) {
  LinkPorts::Port& sender = ports.of(from);
  LinkPorts::Port& receiver = ports.of(to);
  const PortLock lock(ports.lock);
  const TimePoint start =
      start_of_transfer(ready, at(sender.egress_free), at(receiver.ingress_free));
  const TimePoint end = start + duration;
  sender.egress_free = receiver.ingress_free = Nanoseconds(end.time_since_epoch()).count();
  return end;
}

TimePoint reserve_collective(LinkPorts& ports, std::span<const DeviceId> devices, TimePoint ready,
                             Nanoseconds duration) {
  const PortLock lock(ports.lock);
  TimePoint start = ready;
  for (const DeviceId device : devices) {
    const LinkPorts::Port& port = ports.of(device);
    start = start_of_transfer(start, at(port.egress_free), at(port.ingress_free));
  }
  const TimePoint end = start + duration;
  for (const DeviceId device : devices) {
    LinkPorts::Port& port = ports.of(device);
    port.egress_free = port.ingress_free = Nanoseconds(end.time_since_epoch()).count();
  }
  return end;
}

}  // namespace tandem
