// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/critical_path.h"

#include <algorithm>

#include "common/timeline/waits.h"

namespace tandem::timeline {
namespace {

// Follows the critical path back through a step.
class Path {
 public:
  explicit Path(const StepView& step) : step_(step), on_(&step.last()), at_(on_->end) {}

  std::map<std::string, Nanoseconds> follow() {
    std::size_t in_place = 0;  // moves to other devices at one point in time
    while (const Slice* const phase = phase_before()) {
      const Nanoseconds before = at_;
      move_out_of(*phase);
      in_place = at_ < before ? 0 : in_place + 1;
      // Moves that take no time would go round for ever.
      if (in_place > step_.devices.size()) back_to(phase->begin, phase->name);
    }
    back_to(step_.begin, kLateStart);
    return times_;
  }

 private:
  void move_out_of(const Slice& phase) {
    if (phase.name == "exposed_comm") return through_communication(phase);
    if (phase.name == "idle") return through_idle(phase);
    back_to(phase.begin, phase.name);
  }

  // The latest phase that began before the present point; null where there is none.
  [[nodiscard]] const Slice* phase_before() const {
    const Slice* found = nullptr;
    for (const Slice* const phase : on_->phases) {
      if (phase->begin < at_) found = phase;
    }
    return found;
  }

  void back_to(Nanoseconds time, const std::string& what) {
    if (time >= at_) return;
    times_[what] += at_ - time;
    at_ = time;
  }

  // Compute had nothing to do until a collective ended.
  void through_communication(const Slice& wait) {
    const Slice* const collective = latest_ending(*on_, {wait.begin, at_});
    if (collective == nullptr) return back_to(wait.begin, wait.name);
    back_to(collective->end, wait.name);
    through(*collective);
  }

  void through(const Slice& collective) {
    const Nanoseconds arrived =
        collective.arrival ? collective.begin + collective.arrival->waited : collective.begin;
    back_to(std::max(arrived, step_.begin), kTransfer);
    const DeviceStep* const last = collective.arrival ? step_.find(collective.arrival->last_rank,
                                                                   collective.arrival->last_device)
                                                      : on_;
    if (last != nullptr) on_ = last;
    came_from(collective.index);
  }

  // Moves to what the last rank's stream did before the stream began this collective.
  void came_from(int index) {
    const auto bucket = on_->buckets.find(index);
    if (bucket == on_->buckets.end() || !bucket->second->ready) return;
    const Nanoseconds ready = *bucket->second->ready;
    const Slice* const before = latest_ending(*on_, {std::min(ready, at_), at_});
    if (before != nullptr && before->index < index) {
      back_to(before->end, kBetween);
      return through(*before);
    }
    back_to(std::max(ready, step_.begin), kBetween);
  }

  void through_idle(const Slice& wait) {
    const auto [other, end] = latest_work_of_others(step_, *on_, {wait.begin, at_});
    if (other == nullptr) return back_to(wait.begin, wait.name);
    back_to(end, wait.name);
    on_ = other;
  }

  const StepView& step_;
  const DeviceStep* on_;  // the device that the path is on
  Nanoseconds at_;
  std::map<std::string, Nanoseconds> times_;
};

}  // namespace

std::map<std::string, Nanoseconds> critical_path(const StepView& step) {
  return Path(step).follow();
}

}  // namespace tandem::timeline
