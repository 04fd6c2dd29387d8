// SPDX-License-Identifier: Apache-2.0
#include "common/trace/timeline_recorder.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/trace/device_clock.h"
#include "common/trace/gpu_activity.h"
#include "common/trace/timeline_marks.h"

namespace tandem {
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
      case What::kBucketFilled:
      case What::kGpuRan:
        return std::nullopt;
      case What::kWorkBegins:
        return is_row(mark) ? moments.before_row() : moments.before_next();
      case What::kWorkEnds:
        return is_row(mark) ? moments.after_row() : moments.after_last();
      case What::kBucketReady:
      case What::kBucketBack:
      case What::kPartReady:
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
  GpuActivity::Told told;
  if (gpus_) told = gpus_->end();
  process.cuda_times = told.cuda_times;
  process.lost_records = told.lost;
  process.clock_error = told.clock_error;
  for (const auto& [index, device] : devices_) {
    device->collect(process, std::move(told.work[index]));
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

void TimelineRecorder::part_ready(Device& device, Stream& stream, int part) {
  if (is_on_) of(device).add(stream, {.what = What::kPartReady, .index = part});
}

void TimelineRecorder::bucket_filled(Device& device, std::size_t index,
                                     const std::vector<int>& parts) {
  if (!is_on_) return;
  of(device).add({.what = What::kBucketFilled, .index = static_cast<int>(index), .parts = parts});
}

void TimelineRecorder::bucket_back(Device& device, Stream& stream, std::size_t index) {
  if (!is_on_) return;
  of(device).add(stream, {.what = What::kBucketBack, .index = static_cast<int>(index)});
}

}  // namespace tandem
