// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/parallel/replica.h"
#include "common/runtime/timer.h"
#include "ddp/gradient_reducer.h"
#include "ddp/horovod/controller.h"
#include "ddp/horovod/fused_all_reduce.h"
#include "ddp/reducer_options.h"

namespace tandem::ddp::horovod {

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
