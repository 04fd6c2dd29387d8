// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/base/units.h"
#include "common/runtime/device.h"
#include "common/runtime/stream_graph.h"
#include "common/trace/mark_log.h"
#include "common/trace/phase_timer.h"

namespace tandem {

// One collective of a step, over some steps.
struct CollectiveTimes {
  Bytes size;            // of gradients
  Nanoseconds total{0};  // on the communication stream: waiting for peers, then the transfer
  int steps = 0;
};

// Marks on a communication stream where each collective of a step begins and ends, which the phases
// of the compute stream do not tell. Events in stream order, as those of PhaseTimer; observers are
// told as well, whatever the timing. One thread at a time.
class CollectiveTimer final : public CaptureObserver {
 public:
  // Of the options, a planted delay is not its own.
  CollectiveTimer(Device& device, const PhaseOptions& options)
      : device_(device), timing_(options.timing), work_(work_observers_of(options.observers)) {}

  // From here on `compute`, all that collective `index` combines is there; and all that it makes.
  // Only observers ask.
  void ready(Stream& compute, std::size_t index);
  void back(Stream& compute, std::size_t index);

  // In place of ready(), where it is decided late what a collective combines: from here on
  // `compute`, a part of the step's gradients is there; and later, what parts collective `index`
  // is of, perhaps on another thread than the first.
  void part_ready(Stream& compute, int part);
  void filled(std::size_t index, const std::vector<int>& parts);

  // Around what is enqueued as the step's collective `index`, of `size` bytes.
  void begin(Stream& stream, std::size_t index, Bytes size);
  void end(Stream& stream, std::size_t index, Bytes size);

  // By index, since the last call; of replays the latest. Forgets them. Synchronise the stream
  // first.
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
