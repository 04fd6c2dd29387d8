// SPDX-License-Identifier: Apache-2.0
#include "pretend/core/device.h"

#include "pretend/core/settings.h"

namespace tandem::pretend {
namespace {

thread_local int current = 0;
std::atomic<uint32_t> streams{2};  // the default streams have 0, 1 and 2
std::atomic<uint32_t> events{0};
std::atomic<Settle> settler{nullptr};
std::atomic<uint64_t> used{1};  // a bit per device; devices share those beyond 63

}  // namespace

std::atomic<int> unsettled{0};

int device_count() { return static_cast<int>(settings().gpus.size()); }

int current_device() { return current; }

void set_current_device(int device) {
  current = device;
  used.fetch_or(uint64_t{1} << (device & 63), std::memory_order_relaxed);
}

bool is_in_use(int device) {
  return (used.load(std::memory_order_relaxed) >> (device & 63) & 1) != 0;
}

Stream* make_stream(unsigned flags, int priority) {
  return new Stream{.device = current,
                    .number = streams.fetch_add(1, std::memory_order_relaxed) + 1,
                    .flags = flags,
                    .priority = priority};
}

Event* make_event(bool timed) {
  auto* const event = new Event;
  event->number = events.fetch_add(1, std::memory_order_relaxed) + 1;
  event->timed = timed;
  return event;
}

void set_settle(Settle settle) { settler.store(settle); }

void settle(const void* address, uint64_t bytes) {
  const Settle known = settler.load();
  if (known != nullptr) {
    known(address, bytes);
  }
}

}  // namespace tandem::pretend
