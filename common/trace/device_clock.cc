// SPDX-License-Identifier: Apache-2.0
#include "common/trace/device_clock.h"

#include <utility>

namespace tandem {

namespace {

constexpr int kLooks = 9;

Nanoseconds since_epoch(TimePoint time) { return time.time_since_epoch(); }

bool can_log(Stream& stream) { return stream.device().backend == Backend::kHost; }

}  // namespace

DeviceClock::DeviceClock(Device& device) {
  if (device.id().backend != Backend::kCuda) return;
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
  return event.on_clock().value();
}

StreamMoments::StreamMoments(Device& device, Stream& stream)
    : device_(device), stream_(stream), is_logged_(can_log(stream)) {
  if (!is_logged_) return;
  host().open_log();
  unlogged_ = host().tasks_queued();
}

Moment StreamMoments::at_event() {
  std::shared_ptr<TimedEvent> event = device_.make_timed_event();
  stream_.record(*event);
  return {.event = std::move(event)};
}

Moment StreamMoments::noted() {
  std::shared_ptr<TimedEvent> event = device_.make_timed_event();
  stream_.note(*event);
  return {.event = std::move(event)};
}

Moment StreamMoments::moment(Moment::Side side) {
  if (!is_logged_) return noted();
  return {.side = side, .tasks = host().tasks_queued() - unlogged_};
}

Moment StreamMoments::before_next() { return moment(Moment::Side::kBeforeNext); }

Moment StreamMoments::after_last() { return moment(Moment::Side::kAfterLast); }

Moment StreamMoments::before_row() {
  if (is_logged_) host().pause_log();
  Moment before = after_last();
  if (is_logged_) paused_ = host().tasks_queued();
  return before;
}

Moment StreamMoments::after_row() {
  if (is_logged_) {
    unlogged_ += host().tasks_queued() - paused_;
    host().resume_log();
  }
  return after_last();
}

void StreamMoments::close() {
  if (is_logged_) log_ = host().close_log();
}

Nanoseconds StreamMoments::at(const Moment& moment, const DeviceClock& clock) const {
  if (moment.event) return clock.at(*moment.event);
  const TimePoint time = moment.side == Moment::Side::kBeforeNext ? log_.before(moment.tasks)
                                                                  : log_.after(moment.tasks);
  return time.time_since_epoch();
}

}  // namespace tandem
