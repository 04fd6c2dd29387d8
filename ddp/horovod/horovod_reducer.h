// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/comm/communicator.h"
#include "common/model/parameter_layout.h"
#include "common/parallel/replica.h"
#include "common/runtime/timer.h"
#include "common/trace/phase_timer.h"
#include "ddp/gradient_reducer.h"
#include "ddp/horovod/controller.h"
#include "ddp/reducer_options.h"

namespace tandem::ddp::horovod {

// A tensor that all ranks agreed to reduce now.
struct Response {
  int tensor = 0;
  Bytes size;
};

// Tensors that are reduced as one, and the place of each tensor in the fusion buffer.
struct FusedGroup {
  struct Slot {
    int tensor = 0;
    Bytes offset;  // into the fusion buffer
    Bytes size;
  };

  std::vector<Slot> slots;
  Bytes extent;  // bytes in the fusion buffer, with the padding
  Bytes size;    // bytes of the tensors alone
};

// The bytes that a tensor takes in the fusion buffer: a multiple of 16.
[[nodiscard]] Bytes padded(Bytes size);

// Horovod's rule for tensors of one type: the first response takes along the responses behind it,
// as long as all of them, padded, stay within the threshold. A threshold of 0 fuses nothing; a
// tensor beyond the threshold goes alone.
[[nodiscard]] std::vector<FusedGroup> fuse(const std::vector<Response>& responses, Bytes threshold);

// The size of a buffer that any group of two or more fits in: the threshold, or all tensors where
// these are less, in whole lines of 64 floats. 0 where no tensors are ever fused.
[[nodiscard]] Bytes fusion_buffer_size(const std::vector<Response>& all, Bytes threshold);

using EventList = std::vector<std::unique_ptr<Event>>;

// Averages groups of gradients over ranks on a stream of its own, one collective per group. A group
// of several tensors goes through the fusion buffer; a single tensor is averaged where the tensor
// lies.
//
//   wait until all are ready | copy in | all-reduce | copy out
//
// The collective divides, after the sum. Used by one thread at a time.
class FusedAllReduce {
 public:
  // `gradients` are by tensor; `buffer` is the fusion buffer's size, 0 where no group has several
  // tensors. All arguments outlive this object. Collective.
  FusedAllReduce(Device& device, Communicator& communicator, const TensorList& gradients,
                 Bytes buffer, const PhaseOptions& phases);

  // Enqueues the step's group `index`, whose tensors are ready with the events `ready`, by tensor.
  void enqueue(const FusedGroup& group, const EventList& ready, std::size_t index);

  // The times of the groups since the last call, by index in their steps; synchronise the stream
  // first.
  [[nodiscard]] std::vector<CollectiveTimes> collect_times() { return timer_.collect(); }

  // The rank's thread tells of gradients that are ready, and of averages that are back.
  [[nodiscard]] CollectiveTimer& timer() { return timer_; }

  [[nodiscard]] Stream& stream() { return *stream_; }

 private:
  [[nodiscard]] Span<float> gradient(const FusedGroup::Slot& slot) const;
  [[nodiscard]] Span<float> place(const FusedGroup::Slot& slot) const;
  void tell_of(const FusedGroup& group, std::size_t index);

  Communicator& communicator_;
  const TensorList& gradients_;
  CollectiveTimer timer_;
  const std::unique_ptr<Buffer> buffer_;  // the fusion buffer, for all groups in turn
  const std::unique_ptr<Stream> stream_;  // last: ends its work before the buffer goes
};

// Passes tensors from the rank's thread to the cycles' thread, and launches back. Waits park.
class TensorQueue {
 public:
  // push() and what follows up to failure() are calls of the rank's thread.
  void push(int tensor);

  // Returns once the collectives of all pushed tensors are enqueued: the bytes of each collective
  // since the last call, in launch order. Throws the failure that ended the cycles early, and
  // returns nothing where a rank shut the cycles down.
  [[nodiscard]] std::optional<std::vector<Bytes>> await_launches();

  // Makes the next cycle the last, and waits for the end.
  void shut_down() noexcept;

  [[nodiscard]] std::optional<Error> failure() const;

  // take() and what follows are calls of the cycles' thread.
  struct Ready {
    std::vector<int> tensors;  // pushed since the last call
    bool shut_down = false;
  };
  [[nodiscard]] Ready take();

  // Notes that a cycle launched so many tensors in these groups.
  void note_launches(std::size_t tensors, const std::vector<Bytes>& groups);

  // Tells the rank's thread that no more cycles will come.
  void end(const std::optional<Error>& failure);

 private:
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  Ready ready_;
  std::size_t not_launched_ = 0;  // tensors not launched yet
  std::vector<Bytes> groups_;     // groups of the step so far
  bool ended_ = false;
  std::optional<Error> failure_;
};

// Averages gradients over ranks as Horovod does: no grouping is settled in advance. In cycles, a
// thread beside the rank's takes the gradients that backward has made by then, agrees with the
// other ranks on the gradients that all ranks have, fuses these up to a threshold, and launches the
// collectives.
//
//   rank     backward: g3   g2 g1   g0  finish: waits for launches, then for comm -> update
//                       |    |  |    |
//   cycles   .....|.....|.......|.......|....    each: take, agree, fuse, launch
//                        \       \       \    .
//   comm                  g3      g2+g1   g0     wait, copy in, all-reduce, copy out
//
// The groups depend on when gradients are ready, and differ from step to step; ranks agree on the
// groups every time, through `control`. Gradients lie in one arena that `data` has made, so that a
// gradient that goes alone is not copied. Beside the gradients lies the fusion buffer: as large as
// the threshold, or as all gradients where these are less.
//
// Once a rank destroys its reducer, or a rank's cycles fail, the cycles of all ranks end, and a
// rank that waits for gradients then gets a communication error.
class HorovodReducer final : public GradientReducer {
 public:
  // Collective over `data`. All arguments outlive the reducer; the cycles alone use `control`,
  // which has the same ranks.
  HorovodReducer(Replica& replica, const ParameterLayout& layout, Communicator& data,
                 Communicator& control, const HorovodOptions& options);
  ~HorovodReducer() override;

  void begin_step() override;
  [[nodiscard]] const TensorList& gradients() const override { return gradients_.tensors; }
  [[nodiscard]] std::optional<Span<float>> flat_gradients() const override {
    return gradients_.flat;
  }
  void gradient_ready(int segment) override;

  // Blocks until all averages are back. Gradients that backward did not make count as zeros.
  void finish() override;

  [[nodiscard]] std::vector<Bytes> bucket_sizes() const override { return latest_groups_; }
  // Times by index of the collective in its step, copies in and out of the fusion buffer included;
  // steps differ in their groups.
  [[nodiscard]] std::vector<CollectiveTimes> collect_collectives() override {
    return fused_.collect_times();
  }

  void synchronize() override;

 private:
  void enqueue_missing();
  [[nodiscard]] Tick cycle(TimePoint start) noexcept;
  [[nodiscard]] Tick run_cycle(TimePoint start);
  [[nodiscard]] std::vector<Bytes> launch(const std::vector<int>& tensors);
  void check_progress(bool progress, TimePoint start);

  Replica& replica_;
  const ParameterLayout& layout_;
  Communicator& data_;
  Communicator& control_;
  const HorovodOptions options_;
  const Arena gradients_;
  EventList ready_;                   // by segment, on compute: the gradient is made
  std::vector<bool> given_;           // by segment: the gradient is given in this step
  std::unique_ptr<Event> reduced_;    // on comm: all averages of the step are there
  std::vector<Bytes> latest_groups_;  // of the latest step that finished
  TensorQueue queue_;

  // State of the cycles' thread alone.
  Controller controller_;
  std::optional<TimePoint> waiting_since_;  // since when no other rank's gradients came
  std::size_t launched_groups_ = 0;         // groups of the current step
  std::size_t launched_tensors_ = 0;        // tensors of the current step

  FusedAllReduce fused_;          // finish() waits, while the cycles are idle
  std::unique_ptr<Timer> timer_;  // last: the timer uses all of the above
};

}  // namespace tandem::ddp::horovod
