// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tandem::timeline {
namespace {

// The device's collective that ended last within the interval, whose end is included; null where
// none ended there.
const Slice* latest_ending(const DeviceStep& device, const TimeRange& within) {
  const Slice* found = nullptr;
  for (const Slice* const one : device.collectives) {
    if (one->end <= within.begin || one->end > within.end) continue;
    if (found == nullptr || one->end > found->end) found = one;
  }
  return found;
}

// The other device whose phase other than a wait ended last within the interval, without the
// interval's beginning and with its end, and the time of that end; null where there is none.
std::pair<const DeviceStep*, Nanoseconds> latest_work_of_others(const StepView& step,
                                                                const DeviceStep& device,
                                                                const TimeRange& within) {
  std::pair<const DeviceStep*, Nanoseconds> found{nullptr, Nanoseconds{0}};
  for (const DeviceStep& other : step.devices) {
    if (&other == &device) continue;
    for (const Slice* const phase : other.phases) {
      if (is_waiting(*phase) || phase->end <= within.begin || phase->end > within.end) continue;
      if (found.first == nullptr || phase->end > found.second) found = {&other, phase->end};
    }
  }
  return found;
}

// The phase of the device at `time`.
std::string phase_at(const DeviceStep& device, Nanoseconds time) {
  for (const Slice* const phase : device.phases) {
    if (phase->begin < time && time <= phase->end) return phase->name;
  }
  return "no phase";
}

// The phase that the device spent most of the interval in; the device may have begun its step late.
std::string phase_most_of(const DeviceStep& device, const TimeRange& time) {
  std::string most = "no phase yet";
  Nanoseconds longest = std::min(device.begin, time.end) - time.begin;
  for (const Slice* const phase : device.phases) {
    const Nanoseconds within = std::min(phase->end, time.end) - std::max(phase->begin, time.begin);
    if (within <= std::max(longest, Nanoseconds{0})) continue;
    longest = within;
    most = phase->name;
  }
  return most;
}

std::string place(int rank, int device) { return fmt::format("rank {} device {}", rank, device); }

std::string collective_name(const Slice& collective) {
  return collective.index < 0 ? collective.name
                              : fmt::format("bucket {}'s collective", collective.index);
}

std::string who_was_late(const StepView& step, const DeviceStep& mine, const Slice& collective) {
  const Arrival& arrival = *collective.arrival;
  const DeviceStep* const last = step.find(arrival.last_rank, arrival.last_device);
  if (last == nullptr || last == &mine) return {};
  const std::string doing =
      phase_most_of(*last, {collective.begin, collective.begin + arrival.waited});
  return fmt::format("{} came to {} {} later, from {}", place(last->rank, last->device),
                     collective_name(collective), to_string(Seconds(arrival.waited)), doing);
}

// The cause of a wait that took longest: the hand-overs, the late rank in the part of the
// collective that waited for it, or the transfer.
std::string cause_in(const StepView& step, const DeviceStep& device, const Slice& wait) {
  const Slice* const collective = latest_ending(device, {wait.begin, wait.end});
  if (collective == nullptr) return "no collective ended in it";
  const Nanoseconds from = std::max(wait.begin, collective->begin);
  const Nanoseconds waited = collective->arrival ? collective->arrival->waited : Nanoseconds{0};
  const Nanoseconds arrived = std::clamp(collective->begin + waited, from, collective->end);
  const Nanoseconds handed_over = hand_over_in(device, wait);
  if (handed_over > std::max(arrived - from, collective->end - arrived)) {
    return fmt::format("{} was yet to begin, or had ended, for {}", collective_name(*collective),
                       to_string(Seconds(handed_over)));
  }
  const bool was_late = arrived - from > collective->end - arrived;
  std::string late = was_late ? who_was_late(step, device, *collective) : std::string();
  if (!late.empty()) return late;
  const std::string name =
      collective->index < 0 ? collective->name : fmt::format("bucket {}", collective->index);
  if (collective->size == Bytes{0}) return name + " was in transfer";  // its size is not known
  return fmt::format("{} ({}) was in transfer", name, to_string(collective->size));
}

std::string cause_of_idle(const StepView& step, const DeviceStep& device, const Slice& wait) {
  const auto [other, end] = latest_work_of_others(step, device, {wait.begin, wait.end});
  if (other == nullptr) return "no other device's work ended in it: the host had enqueued nothing";
  return fmt::format("{} was in {}", place(other->rank, other->device), phase_at(*other, end));
}

}  // namespace

std::vector<Wait> longest_waits(const std::vector<StepView>& steps, std::size_t count) {
  struct Found {
    const StepView* step;
    const DeviceStep* device;
    const Slice* wait;
  };
  std::vector<Found> all;
  for (const StepView& step : steps) {
    for (const DeviceStep& device : step.devices) {
      for (const Slice* const phase : device.phases) {
        if (is_waiting(*phase)) all.push_back({&step, &device, phase});
      }
    }
  }
  std::ranges::stable_sort(
      all, [](const Found& a, const Found& b) { return a.wait->length() > b.wait->length(); });
  std::vector<Wait> waits;
  for (std::size_t i = 0; i < std::min(count, all.size()); ++i) {
    const auto& [step, device, wait] = all[i];
    waits.push_back({device->rank, device->device, step->step, wait->begin - step->begin,
                     wait->length(), wait->name,
                     wait->name == "idle" ? cause_of_idle(*step, *device, *wait)
                                          : cause_in(*step, *device, *wait)});
  }
  return waits;
}

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
