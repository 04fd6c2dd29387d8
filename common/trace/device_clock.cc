// SPDX-License-Identifier: Apache-2.0
#include "common/trace/device_clock.h"

#include <utility>

#include "common/runtime/host/host_event.h"

namespace tandem {
namespace {

constexpr int kLooks = 9;

Nanoseconds since_epoch(TimePoint time) { return time.time_since_epoch(); }

}  // namespace

DeviceClock::DeviceClock(Device& device) {
  if (device.id().backend == Backend::kHost) return;
  const auto stream = device.make_stream(StreamPriority::kNormal);
  for (int i = 0; i < kLooks; ++i) {
    auto event = device.make_timed_event();
    const Nanoseconds before = since_epoch(Clock::now());
    stream->record(*event);
    stream->synchronize();
    const Nanoseconds error = (since_epoch(Clock::now()) - before + Nanoseconds{1}) / 2;
    if (anchor_ && error >= error_) continue;
    anchor_ = std::move(event);
    anchored_ = before + error;
    error_ = error;
  }
}

Nanoseconds DeviceClock::at(const TimedEvent& event) const {
  if (anchor_) return anchored_ - (*anchor_ - event);
  return since_epoch(static_cast<const host::HostEvent&>(event).latest()->end.at);
}

}  // namespace tandem
