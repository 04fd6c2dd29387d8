// SPDX-License-Identifier: Apache-2.0
#include "common/trace/timeline_recorder.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/trace/device_clock.h"
#include "common/trace/gpu_activity.h"
#include "common/trace/gpu_work.h"
#include "common/trace/timeline_marks.h"

namespace tandem {
namespace {

using What = TimelineMark::What;

timeline::Kind kind_of(EnqueuedWork::Kind kind) {
  switch (kind) {
    case EnqueuedWork::Kind::kOperation:
      return timeline::Kind::kOperation;
    case EnqueuedWork::Kind::kCopy:
      return timeline::Kind::kCopy;
    case EnqueuedWork::Kind::kCollective:
      return timeline::Kind::kCollective;
  }
  fail(ErrorKind::kLogic, "work of no kind");
}

TimelineMark mark_of(What what, const EnqueuedWork& work) {
  return {.what = what,
          .kind = kind_of(work.kind),
          .name = std::string(work.name),
          .layer = std::string(work.layer),
          .index = work.kind == EnqueuedWork::Kind::kCollective ? static_cast<int>(work.index) : -1,
          .size = work.size};
}

}  // namespace

// Marks as they are enqueued. A reducer's threads may call beside the one that steps.
class TimelineRecorder::PerDevice {
 public:
  PerDevice(Device& device, GpuActivity* gpus) : device_(device), gpus_(gpus) {}

  void add(Stream& stream, TimelineMark mark) {
    const std::lock_guard lock(mutex_);
    const auto [known, is_new] = streams_.try_emplace(&stream, streams_.size());
    mark.stream = known->second;
    if (gpus_ != nullptr) {
      if (is_new) gpus_->know(stream, mark.stream);
      mark.number = gpus_->mark(device_.id().index);
    }
    // What was given up may have failed its stream, which records nothing any more.
    auto event = mark.what == What::kStepAbandoned ? nullptr : device_.make_timed_event();
    if (event) stream.record(*event);
    marks_.push_back({std::move(mark), std::move(event)});
  }

  // Adds the device's to `process`, with what its GPU ran.
  void collect(timeline::Process& process, std::vector<GpuWork> ran) {
    const std::lock_guard lock(mutex_);
    const DeviceClock clock(device_);
    std::vector<TimelineMark> timed;
    for (Recorded& recorded : marks_) {
      if (recorded.event) recorded.mark.at = clock.at(*recorded.event);
      timed.push_back(std::move(recorded.mark));
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
    std::unique_ptr<TimedEvent> event;  // null: of no time
  };

  Device& device_;
  GpuActivity* const gpus_;  // absent where nobody asked them
  std::mutex mutex_;         // of what follows
  std::map<const Stream*, std::size_t> streams_;
  std::vector<Recorded> marks_;
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
  if (is_on_) of(device).add(stream, mark_of(What::kWorkBegins, work));
}

void TimelineRecorder::work_ends(Device& device, Stream& stream, const EnqueuedWork& work) {
  if (is_on_) of(device).add(stream, mark_of(What::kWorkEnds, work));
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
