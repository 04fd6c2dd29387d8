// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/base/units.h"
#include "common/runtime/device.h"
#include "common/runtime/stream.h"
#include "common/trace/phase_timer.h"

namespace tandem {

// The times of one collective of a step, summed over some steps.
struct CollectiveTimes {
  Bytes size;            // bytes of gradients
  Nanoseconds total{0};  // on the communication stream: waiting for peers, then the transfer
  int steps = 0;
};

// Marks on a communication stream where each collective of a step begins and ends, which the phases
// of the compute stream do not tell. The marks are events in stream order, like PhaseTimer's;
// observers are told as well, even with timing off. Used by one thread at a time.
class CollectiveTimer final : public CaptureObserver {
 public:
  // Uses all options but the planted delay.
  CollectiveTimer(Device& device, const PhaseOptions& options)
      : device_(device), timing_(options.timing), work_(work_observers_of(options.observers)) {}

  // From here on `compute`, all gradients that collective `index` combines are there (ready), or
  // all results of the collective are there (back). Only observers use these calls.
  void ready(Stream& compute, std::size_t index);
  void back(Stream& compute, std::size_t index);

  // These calls replace ready() where the contents of a collective are decided late: part_ready
  // says that from here on `compute` a part of the step's gradients is there; the later call lists
  // the parts of collective `index`, perhaps on another thread.
  void part_ready(Stream& compute, int part);
  void filled(std::size_t index, const std::vector<int>& parts);

  // The calls around the work that is enqueued as the step's collective `index`, of `size` bytes.
  void begin(Stream& stream, std::size_t index, Bytes size);
  void end(Stream& stream, std::size_t index, Bytes size);

  // Returns the times by index since the last call, of replays only the latest, and forgets these
  // times. Synchronise the stream first.
  [[nodiscard]] std::vector<CollectiveTimes> collect();

  void capture_begins() override { marks_.begin_capture(); }
  void capture_ends() override { marks_.end_capture(); }
  void replay_begins(Stream&) override {}
  void replay_ends(Stream&) override { marks_.note_replay(); }

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
