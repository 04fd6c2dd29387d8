// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/host_link.h"

#include <algorithm>

namespace tandem::host {
namespace {

void raise_to(std::atomic<Nanoseconds::rep>& largest, Nanoseconds value) {
  Nanoseconds::rep seen = largest.load(std::memory_order_relaxed);
  while (seen < value.count() &&
         !largest.compare_exchange_weak(seen, value.count(), std::memory_order_relaxed)) {
  }
}

}  // namespace

Nanoseconds HostLink::lateness_of(const ModelledTime& time) const {
  return time.step == step_.load(std::memory_order_relaxed) ? time.lateness : Nanoseconds{0};
}

ModelledTime HostLink::ready(const ModelledTime& work, TimePoint enqueued) const {
  ModelledTime ready{work.at, lateness_of(work), step_.load(std::memory_order_relaxed)};
  if (enqueued <= work.at) return ready;
  ready.at = enqueued;
  ready.lateness =
      std::max(ready.lateness, Nanoseconds{host_lateness_.load(std::memory_order_relaxed)});
  return ready;
}

void HostLink::seen_by_host(const ModelledTime& end) { raise_to(host_lateness_, lateness_of(end)); }

ModelledTime HostLink::settle(const ModelledTime& modelled) {
  const TimePoint over = Clock::now();
  const Nanoseconds late = std::max(Nanoseconds{0}, Nanoseconds(over - modelled.at));
  const Nanoseconds lateness = lateness_of(modelled) + late;
  raise_to(largest_lateness_, lateness);
  return {std::max(modelled.at, over), lateness, step_.load(std::memory_order_relaxed)};
}

void HostLink::note_overshoot(TimePoint due) { raise_to(largest_overshoot_, Clock::now() - due); }

Lateness HostLink::take_lateness() {
  step_.fetch_add(1, std::memory_order_relaxed);
  host_lateness_.store(0, std::memory_order_relaxed);
  return {.on_path = Nanoseconds{largest_lateness_.exchange(0)},
          .largest_overshoot = Nanoseconds{largest_overshoot_.exchange(0)}};
}

}  // namespace tandem::host
