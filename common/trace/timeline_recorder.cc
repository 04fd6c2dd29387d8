// SPDX-License-Identifier: Apache-2.0
#include "common/trace/timeline_recorder.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/runtime/device.h"
#include "common/runtime/host/host_stream.h"
#include "common/trace/gpu_activity.h"
#include "common/trace/timeline_marks.h"

namespace tandem {

// Finds when on the host's clock a device's events were. A host device's events carry the host's
// time, and simulated ones that of their simulation. A GPU's events give only their distance from
// another event, so one event is recorded here, waited for, and placed between two readings of the
// host's clock, the closest pair of a few.
class DeviceClock {
 public:
  // Every event that at() will be asked for must be done. Waits for a stream of its own.
  explicit DeviceClock(Device& device);

  // The event's time since the epoch of Clock.
  [[nodiscard]] Nanoseconds at(const TimedEvent& event) const;

  // The bound of the error of at(), either way.
  [[nodiscard]] Nanoseconds error() const { return error_; }

 private:
  std::unique_ptr<TimedEvent> anchor_;  // null: events are on the clock themselves
  Nanoseconds anchored_{0};
  Nanoseconds error_{0};
};

// A point in a stream's work.
struct Moment {
  enum class Side { kAtEvent, kBeforeNext, kAfterLast };

  Side side = Side::kAtEvent;
  std::uint32_t tasks = 0;  // tasks of the log before the moment, where there is no event
  std::shared_ptr<TimedEvent> event{};  // the event where there is no log
};

// Takes moments of one stream, and finds afterwards when the moments were. Moments are events in
// stream order, but between phases a host stream's worker keeps a log of its tasks instead: an
// event is a task of its own, which wakes the worker and runs on the worker's core, as much work as
// the smallest operations are. One thread at a time.
class StreamMoments {
 public:
  // From here on, work that is queued on `stream` is logged, where logging is possible.
  StreamMoments(Device& device, Stream& stream);

  // The moment where a phase begins, or a step ends.
  [[nodiscard]] Moment at_event();
  // The moments before the work that is queued next, and after the work that was queued last. With
  // nothing between the two moments both are one, after the last work.
  [[nodiscard]] Moment before_next();
  [[nodiscard]] Moment after_last();

  // The moments before and after a row of tiny pieces of work within which no moment is asked for.
  [[nodiscard]] Moment before_row();
  [[nodiscard]] Moment after_row();

  // Ends the log, for at(). The stream must be synchronised.
  void close();

  // The moment's time since the epoch of Clock.
  [[nodiscard]] Nanoseconds at(const Moment& moment, const DeviceClock& clock) const;

 private:
  [[nodiscard]] Moment moment(Moment::Side side);
  [[nodiscard]] Moment noted();
  [[nodiscard]] host::HostStream& host() const { return host::host_stream(stream_); }

  Device& device_;
  Stream& stream_;
  const bool is_logged_;
  std::uint32_t unlogged_ = 0;  // tasks that were queued before the log began, and in rows
  std::uint32_t paused_ = 0;    // tasks that were queued when the latest row began
  host::TaskLog log_;           // set by close()
};

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

namespace {

using What = TimelineMark::What;

timeline::SliceKind kind_of(EnqueuedWork::Kind kind) {
  switch (kind) {
    case EnqueuedWork::Kind::kOperation:
      return timeline::SliceKind::kOperation;
    case EnqueuedWork::Kind::kCopy:
      return timeline::SliceKind::kCopy;
    case EnqueuedWork::Kind::kCollective:
    case EnqueuedWork::Kind::kInLine:
      return timeline::SliceKind::kCollective;
  }
  fail(ErrorKind::kLogic, "work of no kind");
}

TimelineMark begin_of(const EnqueuedWork& work) {
  return {.what = What::kWorkBegins,
          .kind = kind_of(work.kind),
          .name = std::string(work.name),
          .layer = std::string(work.layer),
          .index = work.kind == EnqueuedWork::Kind::kCollective ? static_cast<int>(work.index) : -1,
          .size = work.size,
          .copies = work.copies};
}

}  // namespace

// The marks of a device as they are enqueued. A reducer's threads may call while another thread
// steps.
class TimelineRecorder::PerDevice {
 public:
  PerDevice(Device& device, GpuActivity* gpus) : device_(device), gpus_(gpus) {}

  void add(Stream& stream, TimelineMark&& mark) {
    const std::lock_guard lock(mutex_);
    Recording& recording = of(stream);
    mark.stream = recording.number;
    if (gpus_ != nullptr) mark.number = gpus_->mark(device_.id().index);
    std::optional<Moment> moment = moment_of(mark, recording.moments);
    marks_.push_back({std::move(mark), std::move(moment)});
  }

  // Adds a mark without a time, with the number of the preceding mark.
  void add(TimelineMark mark) {
    const std::lock_guard lock(mutex_);
    if (!marks_.empty()) mark.number = marks_.back().mark.number;
    marks_.push_back({std::move(mark), std::nullopt});
  }

  // Adds the device's tracks and buckets to `process`, with the work that the device's GPU ran.
  void collect(timeline::Process& process, std::vector<GpuWork> ran) {
    const std::lock_guard lock(mutex_);
    const DeviceClock clock(device_);
    std::vector<const StreamMoments*> moments(streams_.size());
    for (auto& [stream, recording] : streams_) {
      recording.moments.close();
      moments[recording.number] = &recording.moments;
    }
    std::vector<TimelineMark> timed;
    for (Recorded& recorded : marks_) {
      TimelineMark& mark = recorded.mark;
      if (recorded.moment) mark.at = moments[mark.stream]->at(*recorded.moment, clock);
      timed.push_back(std::move(mark));
    }
    marks_.clear();
    streams_.clear();
    const MarksWithWork all = with_gpu_work(std::move(timed), std::move(ran));
    timeline::Process mine = timeline_of(device_.id().index, all.marks);
    std::ranges::move(mine.tracks, std::back_inserter(process.tracks));
    std::ranges::move(mine.buckets, std::back_inserter(process.buckets));
    process.clock_error = std::max(process.clock_error, clock.error() + all.moved);
  }

 private:
  struct Recorded {
    TimelineMark mark;
    std::optional<Moment> moment;
  };
  struct Recording {
    std::size_t number;  // the stream's number
    StreamMoments moments;
  };

  Recording& of(Stream& stream) {
    const auto found = streams_.find(&stream);
    if (found != streams_.end()) return found->second;
    if (gpus_ != nullptr) gpus_->know(stream, streams_.size());
    return streams_.emplace(&stream, Recording{streams_.size(), {device_, stream}}).first->second;
  }

  static bool is_row(const TimelineMark& mark) { return mark.copies > 1; }

  static std::optional<Moment> moment_of(const TimelineMark& mark, StreamMoments& moments) {
    switch (mark.what) {
      case What::kPhaseBegins:
      case What::kStepEnds:
        return moments.at_event();
      case What::kStepAbandoned:  // the stream may have failed, and records nothing any more
      case What::kGpuRan:
        return std::nullopt;
      case What::kWorkBegins:
        return is_row(mark) ? moments.before_row() : moments.before_next();
      case What::kWorkEnds:
        return is_row(mark) ? moments.after_row() : moments.after_last();
      case What::kBucketReady:
      case What::kBucketBack:
        return moments.after_last();
    }
    fail(ErrorKind::kLogic, "a mark of no kind");
  }

  Device& device_;
  GpuActivity* const gpus_;  // null where GPUs are not asked
  std::mutex mutex_;         // guards the members below
  std::map<const Stream*, Recording> streams_;
  std::deque<Recorded> marks_;  // never moves its elements, which would delay the step
};

TimelineRecorder::TimelineRecorder() = default;
TimelineRecorder::~TimelineRecorder() = default;

void TimelineRecorder::watch_gpus() { gpus_ = std::make_unique<GpuActivity>(); }

void TimelineRecorder::start() {
  if (gpus_) gpus_->begin();
  is_on_ = true;
}

TimelineRecorder::PerDevice& TimelineRecorder::of(Device& device) {
  const std::lock_guard lock(mutex_);
  auto& found = devices_[device.id().index];
  if (!found) found = std::make_unique<PerDevice>(device, gpus_.get());
  return *found;
}

timeline::Process TimelineRecorder::collect() {
  timeline::Process process;
  const std::lock_guard lock(mutex_);
  GpuActivity::Report report;
  if (gpus_) report = gpus_->end();
  process.cuda_times = report.cuda_times;
  process.lost_records = report.lost;
  process.clock_error = report.clock_error;
  for (const auto& [index, device] : devices_) {
    device->collect(process, std::move(report.work[index]));
  }
  devices_.clear();
  gpus_.reset();
  return process;
}

void TimelineRecorder::part_begins(Device& device, Stream& stream, std::string_view phase) {
  if (!is_on_) return;
  of(device).add(stream, {.what = What::kPhaseBegins, .name = std::string(phase)});
}

void TimelineRecorder::step_ends(Device& device, Stream& stream) {
  if (is_on_) of(device).add(stream, {.what = What::kStepEnds});
}

void TimelineRecorder::step_abandoned(Device& device, Stream& stream) {
  if (is_on_) of(device).add(stream, {.what = What::kStepAbandoned});
}

void TimelineRecorder::work_begins(Device& device, Stream& stream, const EnqueuedWork& work) {
  if (is_on_) of(device).add(stream, begin_of(work));
}

void TimelineRecorder::work_ends(Device& device, Stream& stream, const EnqueuedWork& work) {
  if (is_on_) of(device).add(stream, {.what = What::kWorkEnds, .copies = work.copies});
}

void TimelineRecorder::bucket_ready(Device& device, Stream& stream, std::size_t index) {
  if (!is_on_) return;
  of(device).add(stream, {.what = What::kBucketReady, .index = static_cast<int>(index)});
}

void TimelineRecorder::bucket_back(Device& device, Stream& stream, std::size_t index) {
  if (!is_on_) return;
  of(device).add(stream, {.what = What::kBucketBack, .index = static_cast<int>(index)});
}

}  // namespace tandem
