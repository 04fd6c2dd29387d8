// SPDX-License-Identifier: Apache-2.0
#include "common/trace/timeline_marks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "common/base/error.h"
#include "common/timeline/tracks.h"

namespace tandem {

namespace {

using timeline::Bucket;
using timeline::Slice;
using timeline::SliceKind;
using timeline::Track;

constexpr const char* kOther = "other";  // a stream that only its GPU reported

// The slices of one stream.
struct StreamWork {
  std::vector<Slice> open;  // open slices, the latest last
  std::vector<Slice> done;  // done slices of the step
  Track track;
};

class Conversion {
 public:
  explicit Conversion(int device) : device_(device) {}

  void take(const TimelineMark& mark) {
    switch (mark.what) {
      case TimelineMark::What::kPhaseBegins:
        return begin_phase(mark);
      case TimelineMark::What::kStepEnds:
        return end_step(mark);
      case TimelineMark::What::kStepAbandoned:
        return abandon_step();
      case TimelineMark::What::kWorkBegins:
        return begin_work(mark);
      case TimelineMark::What::kWorkEnds:
        return end_work(mark);
      case TimelineMark::What::kBucketReady:
        bucket(mark.index).ready = mark.at;
        return;
      case TimelineMark::What::kBucketBack:
        bucket(mark.index).back = mark.at;
        return;
      case TimelineMark::What::kGpuRan:
        return add_ran(mark);
    }
  }

  [[nodiscard]] timeline::Process result() && {
    timeline::Process process;
    for (auto& [stream, work] : streams_) {
      if (work.track.slices.empty()) continue;
      sort_slices(work.track);
      add_layers(work.track);
      std::vector<Track> beside = split_crossing(work.track);
      process.tracks.push_back(std::move(work.track));
      std::ranges::move(beside, std::back_inserter(process.tracks));
    }
    process.buckets = std::move(buckets_);
    return process;
  }

 private:
  StreamWork& at(std::size_t stream, const char* role) {
    StreamWork& work = streams_[stream];
    work.track.device = device_;
    if (work.track.name.empty() || work.track.name == kOther) work.track.name = role;
    return work;
  }

  void begin_phase(const TimelineMark& mark) {
    at(mark.stream, "compute");
    if (!step_) {
      step_ = Slice{.kind = SliceKind::kStep, .name = "step", .begin = mark.at, .step = ++steps_};
    } else {
      end_phase(mark);
    }
    phase_ = Slice{.kind = SliceKind::kPhase, .name = mark.name, .begin = mark.at, .step = steps_};
  }

  void end_phase(const TimelineMark& mark) {
    phase_.end = mark.at;
    streams_[mark.stream].done.push_back(phase_);
  }

  void end_step(const TimelineMark& mark) {
    TANDEM_CHECK(step_.has_value(), "device {} ends a step that it has not begun", device_);
    end_phase(mark);
    step_->end = mark.at;
    streams_[mark.stream].done.push_back(*std::exchange(step_, std::nullopt));
    for (auto& [stream, work] : streams_) {
      work.track.slices.insert(work.track.slices.end(), work.done.begin(), work.done.end());
      work.done.clear();
    }
  }

  void abandon_step() {
    if (!step_) return;
    step_.reset();
    std::erase_if(buckets_, [this](const Bucket& one) { return one.step == steps_; });
    for (auto& [stream, work] : streams_) work.done.clear(), work.open.clear();
    --steps_;
  }

  void begin_work(const TimelineMark& mark) {
    const bool is_collective = mark.kind == SliceKind::kCollective;
    at(mark.stream, is_collective ? "comm" : "copies")
        .open.push_back({.kind = mark.kind,
                         .name = mark.name,
                         .begin = mark.at,
                         .step = steps_,
                         .layer = mark.layer,
                         .index = mark.index,
                         .sequence = is_collective ? collectives_++ : -1,
                         .size = mark.size,
                         .copies = mark.copies});
  }

  void end_work(const TimelineMark& mark) {
    StreamWork& work = streams_[mark.stream];
    TANDEM_CHECK(!work.open.empty(), "device {} ends work that it has not begun", device_);
    Slice& ended = work.open.back();
    ended.end = mark.at;
    // Work that enqueued nothing has the beginning of the work after it, later than its own end.
    ended.begin = std::min(ended.begin, ended.end);
    work.done.push_back(std::move(work.open.back()));
    work.open.pop_back();
  }

  void add_ran(const TimelineMark& mark) {
    StreamWork& work = streams_[mark.stream];
    if (work.track.name.empty()) at(mark.stream, kOther);
    work.done.push_back({.kind = mark.kind,
                         .name = mark.name,
                         .begin = mark.at,
                         .end = mark.end,
                         .step = step_ ? steps_ : 0,
                         .size = mark.size});
  }

  Bucket& bucket(int index) {
    for (Bucket& one : buckets_) {
      if (one.step == steps_ && one.index == index) return one;
    }
    return buckets_.emplace_back(Bucket{.device = device_, .step = steps_, .index = index});
  }

  const int device_;
  int steps_ = 0;
  int collectives_ = 0;
  std::optional<Slice> step_;  // the step that has not ended
  Slice phase_;                // the step's present phase
  std::map<std::size_t, StreamWork> streams_;
  std::vector<Bucket> buckets_;
};

}  // namespace

timeline::Process timeline_of(int device, const std::vector<TimelineMark>& marks) {
  Conversion conversion(device);
  for (const TimelineMark& mark : marks) conversion.take(mark);
  return std::move(conversion).result();
}

}  // namespace tandem
