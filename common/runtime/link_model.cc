// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/link_model.h"

#include <algorithm>
#include <cmath>

#include "common/base/error.h"

namespace tandem {

namespace {

Nanoseconds stream_time(const LinkModel& link, double bytes) {
  TANDEM_CHECK(link.bytes_per_second > 0, "a link of {} bytes/s", link.bytes_per_second);
  return Nanoseconds{std::llround(bytes * 1e9 / link.bytes_per_second)};
}

}  // namespace

Nanoseconds transfer_time(const LinkModel& link, Bytes size) {
  return link.latency + stream_time(link, static_cast<double>(size.value));
}

Nanoseconds ring_pass_time(const LinkModel& link, Bytes size, int ranks) {
  const int steps = ranks - 1;
  const double bytes = static_cast<double>(size.value) * steps / ranks;
  return link.latency * steps + stream_time(link, bytes);
}

Nanoseconds ring_all_reduce_time(const LinkModel& link, Bytes size, int ranks) {
  return 2 * ring_pass_time(link, size, ranks);
}

Nanoseconds pipelined_time(const LinkModel& link, Bytes size, int ranks) {
  if (ranks == 1) return Nanoseconds{0};
  return link.latency * (ranks - 1) + stream_time(link, static_cast<double>(size.value));
}

Nanoseconds copy_loop_time(const LinkModel& link, Bytes size, int ranks) {
  return (ranks - 1) * transfer_time(link, size);
}

TimePoint start_of_transfer(TimePoint ready, TimePoint egress_free, TimePoint ingress_free) {
  return std::max({ready, egress_free, ingress_free});
}

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
