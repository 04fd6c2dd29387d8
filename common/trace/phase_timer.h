// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/base/units.h"
#include "common/runtime/copy.h"
#include "common/runtime/device.h"
#include "common/runtime/stream.h"
#include "common/trace/step_observer.h"

namespace tandem {

// A timer's marks, kept for reuse, in the order in which the marks were made.
template <class Mark>
class MarkLog {
 public:
  // Returns the next mark to be set: a forgotten mark, else a new one from `make`.
  template <class Make>
  Mark& next(const Make& make) {
    if (used_ == marks_.size()) marks_.push_back(make());
    return marks_[used_++];
  }

  // The latest mark; there must be one.
  [[nodiscard]] Mark& latest() { return marks_[used_ - 1]; }

  // Forgets the latest marks for which `is_unwanted` is true.
  template <class Condition>
  void forget_latest_while(const Condition& is_unwanted) {
    while (used_ > 0 && is_unwanted(marks_[used_ - 1])) --used_;
  }

  // Returns all marks that were set since the last call and forgets them; the span holds until
  // next().
  [[nodiscard]] std::span<const Mark> take() {
    return std::span<const Mark>(marks_).first(std::exchange(used_, 0));
  }

 private:
  std::vector<Mark> marks_;  // the first `used_` marks are set
  std::size_t used_ = 0;
};

// The time of one device by phase, over some steps.
struct PhaseTimes {
  std::array<Nanoseconds, kPhaseCount> total{};
  Nanoseconds span{0};  // first to last mark of each step, summed; the totals partition it
  int steps = 0;

  [[nodiscard]] Nanoseconds of(Phase phase) const { return total[static_cast<std::size_t>(phase)]; }
};

enum class PhaseTiming { kOn, kOff };

// A delay that one device meets where the device first enters a phase of a step, so that an
// explanation of times can be tested. One device alone is delayed, lest delays of several devices
// add up along the step.
struct PlantedDelay {
  Phase phase = Phase::kIdle;
  Nanoseconds delay{0};
  int device = 0;
};

struct PhaseOptions {
  PhaseTiming timing = PhaseTiming::kOn;
  std::optional<PlantedDelay> planted{};
  std::vector<StepObserver*> observers{};  // called in this order, with timing off too
};

// Marks on one device's main stream where one phase ends and the next begins. The marks are events
// in stream order: a mark waits for nothing and costs less than a microsecond. One thread at a
// time.
class PhaseTimer final {
 public:
  PhaseTimer(Device& device, const PhaseOptions& options)
      : device_(device), options_(options), work_(work_observers_of(options.observers)) {}

  // From here on in stream order, the device is in `phase`.
  void begin(Stream& stream, Phase phase);

  // The step's last phase ends here.
  void end_step(Stream& stream);

  [[nodiscard]] const PhaseOptions& options() const { return options_; }

  // Forgets a step that was begun and will not be ended. Synchronise the stream first; the stream
  // may have failed.
  void abandon_step(Stream& stream);

  // Enqueues a copy of the step, on any stream of the device, and reports the copy to observers.
  template <class T>
  void copy(Stream& stream, Span<T> destination, std::type_identity_t<Span<const T>> source) {
    enqueue_observed(
        work_, device_, stream,
        {.kind = EnqueuedWork::Kind::kCopy, .name = "copy", .size = source.size_bytes()},
        [&] { enqueue_copy(stream, destination, source); });
  }

  // Does the same for `count` copies in a row on one stream, `size` bytes together, which
  // `enqueue()` enqueues. Observers see the row as one copy, since each copy may be shorter
  // than a mark takes.
  template <class Enqueue>
  void copies(Stream& stream, int count, Bytes size, const Enqueue& enqueue) {
    enqueue_observed(
        work_, device_, stream,
        {.kind = EnqueuedWork::Kind::kCopy, .name = "copy", .size = size, .copies = count},
        enqueue);
  }

  // Does the same for a collective of `size` bytes on the compute stream that belongs to no bucket.
  template <class Enqueue>
  void collective(Stream& stream, std::string_view name, Bytes size, const Enqueue& enqueue) {
    enqueue_observed(work_, device_, stream,
                     {.kind = EnqueuedWork::Kind::kInLine, .name = name, .size = size}, enqueue);
  }

  // Sums up all steps since the last call, and forgets these steps. Synchronise the stream first.
  [[nodiscard]] PhaseTimes collect();

 private:
  struct Mark {
    std::unique_ptr<TimedEvent> event;
    Phase phase = Phase::kIdle;
    bool ends_step = false;
  };

  void mark(Stream& stream, Phase phase, bool ends_step);
  void meet_planted(Stream& stream, Phase phase);

  Device& device_;
  const PhaseOptions options_;
  const std::vector<WorkObserver*> work_;
  MarkLog<Mark> marks_;
  bool met_planted_ = false;  // the planted delay was met in this step
};

// The times of one collective of a step, summed over some steps.
struct CollectiveTimes {
  Bytes size;            // bytes of gradients
  Nanoseconds total{0};  // on the communication stream: waiting for peers, then the transfer
  int steps = 0;
};

// Marks on a communication stream where each collective of a step begins and ends, which the phases
// of the compute stream do not show. The marks are events in stream order, like PhaseTimer's;
// observers see them as well, even with timing off. Used by one thread at a time.
class CollectiveTimer final {
 public:
  // Uses all options but the planted delay.
  CollectiveTimer(Device& device, const PhaseOptions& options)
      : device_(device), timing_(options.timing), work_(work_observers_of(options.observers)) {}

  // From here on `compute`, all gradients that collective `index` combines are there (ready), or
  // all results of the collective are there (back). Only observers use these calls.
  void ready(Stream& compute, std::size_t index);
  void back(Stream& compute, std::size_t index);

  // The calls around the work that is enqueued as the step's collective `index`, of `size` bytes.
  void begin(Stream& stream, std::size_t index, Bytes size);
  void end(Stream& stream, std::size_t index, Bytes size);

  // Returns the times by index since the last call, and forgets these times. Synchronise the stream
  // first.
  [[nodiscard]] std::vector<CollectiveTimes> collect();

 private:
  struct Mark {
    std::unique_ptr<TimedEvent> start;
    std::unique_ptr<TimedEvent> end;
    std::size_t index = 0;
    Bytes size{};
  };

  [[nodiscard]] static EnqueuedWork work(std::size_t index, Bytes size) {
    return {.kind = EnqueuedWork::Kind::kCollective,
            .name = "collective",
            .index = index,
            .size = size};
  }

  Device& device_;
  const PhaseTiming timing_;
  const std::vector<WorkObserver*> work_;
  MarkLog<Mark> marks_;
};

}  // namespace tandem
