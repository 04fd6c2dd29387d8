// SPDX-License-Identifier: Apache-2.0
#include "common/trace/gpu_activity.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace tandem {

namespace {

using What = TimelineMark::What;

constexpr Nanoseconds kAlways = Nanoseconds::max();

Nanoseconds middle(const TimelineMark& ran) { return ran.at + (ran.end - ran.at) / 2; }

// The order of one stream: places of the stream's marks among the device's marks, and the work that
// ran behind each mark.
struct StreamOrder {
  std::vector<std::size_t> marks;
  std::map<std::size_t, std::vector<const TimelineMark*>> ran;  // by place in `marks`, plus 1
};

bool has_time(const TimelineMark& mark) { return mark.what != What::kStepAbandoned; }

class Placement {
 public:
  Placement(std::vector<TimelineMark> marks, std::vector<GpuWork> work)
      : marks_(std::move(marks)), work_(std::move(work)), events_(marks_.size()) {
    for (std::size_t place = 0; place < marks_.size(); ++place) {
      events_[place] = marks_[place].at;
      if (has_time(marks_[place])) streams_[marks_[place].stream].marks.push_back(place);
    }
    for (const GpuWork& one : work_) {
      if (one.behind > 0) order(one.ran, last_at(one.ran.stream, one.behind));
    }
    shift();
    for (const GpuWork& one : work_) {
      if (one.behind == 0) order(one.ran, last_before(one.ran));
    }
    for (auto& [stream, order] : streams_) fit(order);
  }

  [[nodiscard]] MarksWithWork result() {
    MarksWithWork result;
    for (std::size_t place = 0; place < marks_.size(); ++place) {
      if (!has_time(marks_[place])) continue;
      result.moved = std::max(result.moved, std::chrono::abs(marks_[place].at - events_[place]));
    }
    std::multimap<std::size_t, TimelineMark*> behind;
    for (GpuWork& one : work_) {
      if (const auto place = place_of(one)) behind.emplace(*place, &one.ran);
    }
    for (std::size_t place = 0; place < marks_.size(); ++place) {
      result.marks.push_back(std::move(marks_[place]));
      const auto [from, to] = behind.equal_range(place);
      for (auto one = from; one != to; ++one) result.marks.push_back(std::move(*one->second));
    }
    return result;
  }

 private:
  // How many of the stream's marks were enqueued up to number `behind`.
  [[nodiscard]] std::size_t last_at(std::size_t stream, std::uint64_t behind) {
    const std::vector<std::size_t>& places = streams_[stream].marks;
    const auto number = [&](std::size_t place) { return marks_[place].number; };
    const auto after = std::ranges::upper_bound(places, behind, {}, number);
    return static_cast<std::size_t>(after - places.begin());
  }

  // How many of the stream's marks came before the work was half done, as clocks may be off a
  // little.
  [[nodiscard]] std::size_t last_before(const TimelineMark& ran) {
    const std::vector<std::size_t>& places = streams_[ran.stream].marks;
    const auto time = [&](std::size_t place) { return marks_[place].at; };
    const auto after = std::ranges::upper_bound(places, middle(ran), {}, time);
    return static_cast<std::size_t>(after - places.begin());
  }

  void order(const TimelineMark& ran, std::size_t count) {
    streams_[ran.stream].ran[count].push_back(&ran);
  }

  // Shifts all marks by the same duration: into the range that the order allows, or into the middle
  // where a drifting clock makes the order contradict itself.
  void shift() {
    Nanoseconds least = -kAlways;
    Nanoseconds most = kAlways;
    for (const auto& [stream, order] : streams_) {
      for (const auto& [count, all] : order.ran) {
        for (const TimelineMark* ran : all) {
          if (count > 0) most = std::min(most, ran->at - marks_[order.marks[count - 1]].at);
          if (count == order.marks.size()) continue;
          least = std::max(least, ran->end - marks_[order.marks[count]].at);
        }
      }
    }
    const Nanoseconds by =
        least <= most ? std::clamp(Nanoseconds{0}, least, most) : most + (least - most) / 2;
    for (TimelineMark& mark : marks_) mark.at += by;
  }

  // Moves each mark between the work that ran before the mark and the work that ran after the mark.
  void fit(const StreamOrder& order) {
    Nanoseconds next = kAlways;
    for (std::size_t count = order.marks.size(); count > 0; --count) {
      for (const TimelineMark* ran : behind(order, count)) next = std::min(next, ran->at);
      Nanoseconds& at = marks_[order.marks[count - 1]].at;
      at = next = std::min(next, at);
    }
    Nanoseconds done = -kAlways;
    for (std::size_t count = 0; count < order.marks.size(); ++count) {
      for (const TimelineMark* ran : behind(order, count)) done = std::max(done, ran->end);
      Nanoseconds& at = marks_[order.marks[count]].at;
      at = done = std::max(done, at);
    }
  }

  static std::span<const TimelineMark* const> behind(const StreamOrder& order, std::size_t count) {
    const auto found = order.ran.find(count);
    if (found == order.ran.end()) return {};
    return found->second;
  }

  // The place, among the device's marks, of the mark that the work comes behind.
  [[nodiscard]] std::optional<std::size_t> place_of(const GpuWork& work) {
    if (work.behind > 0) {
      const auto after = std::ranges::upper_bound(marks_, work.behind, {}, &TimelineMark::number);
      if (after == marks_.begin()) return std::nullopt;  // work behind another device's mark
      return static_cast<std::size_t>(after - marks_.begin()) - 1;
    }
    const std::vector<std::size_t>& places = streams_[work.ran.stream].marks;
    const std::size_t count = last_before(work.ran);
    if (count > 0 && marks_[places[count - 1]].what == What::kWorkBegins) return places[count - 1];
    return step_around(work.ran);
  }

  // The place of the mark before the end of the step in which the work was half done.
  [[nodiscard]] std::optional<std::size_t> step_around(const TimelineMark& ran) const {
    const TimelineMark* begin = nullptr;  // beginning of the step
    for (std::size_t place = 0; place < marks_.size(); ++place) {
      const TimelineMark& mark = marks_[place];
      if (mark.what == What::kPhaseBegins && begin == nullptr) begin = &mark;
      if (mark.what == What::kStepAbandoned) begin = nullptr;
      if (mark.what != What::kStepEnds || begin == nullptr) continue;
      if (begin->at <= middle(ran) && middle(ran) <= mark.at) return place - 1;
      begin = nullptr;
    }
    return std::nullopt;
  }

  std::vector<TimelineMark> marks_;
  std::vector<GpuWork> work_;
  std::vector<Nanoseconds> events_;  // times of the marks by their events
  std::map<std::size_t, StreamOrder> streams_;
};

TimelineMark ran(cupti::Record&& record, std::size_t stream) {
  return {.what = TimelineMark::What::kGpuRan,
          .stream = stream,
          .at = record.begin,
          .kind = record.kind,
          .name = std::move(record.name),
          .size = record.size,
          .end = record.end};
}

}  // namespace

MarksWithWork with_gpu_work(std::vector<TimelineMark> marks, std::vector<GpuWork> work) {
  return Placement(std::move(marks), std::move(work)).result();
}

GpuActivity::GpuActivity(const std::vector<std::string>& libraries, const CudaProfiling* cuda)
    : session_(libraries), cuda_(cuda) {}

void GpuActivity::know(Stream& stream, std::size_t index) {
  const int device = stream.device().index;
  const std::lock_guard lock(mutex_);
  streams_[device] = std::max(streams_[device], index + 1);
  if (cuda_ == nullptr || stream.device().backend != Backend::kCuda) return;
  gpus_[device] = cuda_->gpu(stream);
  const auto number = session_.number_of(cuda_->native_stream(stream));
  if (number) places_[{gpus_[device], *number}] = {device, index};
}

std::uint64_t GpuActivity::mark(int device) {
  const std::lock_guard lock(mutex_);
  devices_.push_back(device);
  const std::uint64_t number = devices_.size();
  session_.mark(number);
  return number;
}

const int* GpuActivity::device_of(const cupti::Record& record) const {
  if (record.behind > 0 && record.behind <= devices_.size()) {
    const int& device = devices_[record.behind - 1];
    const auto gpu = gpus_.find(device);
    if (gpu != gpus_.end() && gpu->second == record.gpu) return &device;
  }
  const auto any = std::ranges::find(gpus_, record.gpu, [](const auto& one) { return one.second; });
  return any == gpus_.end() ? nullptr : &any->first;
}

const GpuActivity::Place* GpuActivity::place_of(const cupti::Record& record) {
  const Key key{record.gpu, record.stream};
  const auto known = places_.find(key);
  if (known != places_.end()) return &known->second;
  const int* const device = device_of(record);
  if (device == nullptr) return nullptr;
  return &places_.emplace(key, Place{*device, streams_[*device]++}).first->second;
}

GpuActivity::Report GpuActivity::end() {
  Report report;
  std::string why = session_.why_not();
  cupti::CollectedRecords collected = session_.end();
  if (why.empty()) why = collected.failure;
  const std::lock_guard lock(mutex_);
  for (cupti::Record& record : collected.records) {
    const Place* const place = place_of(record);
    if (!why.empty() || place == nullptr) continue;
    const std::uint64_t behind = record.behind;
    report.work[place->device].push_back({ran(std::move(record), place->stream), behind});
  }
  if (why.empty() && report.work.empty()) why = "CUPTI reported nothing that these GPUs ran";
  report.cuda_times = why.empty() ? "cupti" : "events, since " + why;
  report.clock_error = report.work.empty() ? Nanoseconds{0} : collected.clock_error;
  report.lost = collected.dropped + collected.without_time;
  return report;
}

}  // namespace tandem
