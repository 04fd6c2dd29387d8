// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/parallel/arena.h"
#include "common/parallel/replica.h"
#include "common/runtime/platform.h"
#include "ddp/gradient_reducer.h"
#include "ddp/horovod/controller.h"
#include "ddp/horovod/fused_all_reduce.h"
#include "ddp/horovod/horovod_options.h"
#include "ddp/horovod/tensor_queue.h"

namespace tandem::ddp {

// Averages gradients over ranks as Horovod does: nothing is settled in advance. A thread beside the
// rank's looks in cycles at what backward has made by then, agrees with the other ranks on what all
// of them have, fuses that up to a threshold, and launches it.
//
//   rank     backward: g3   g2 g1   g0  finish: waits for launches, then for comm -> update
//                       |    |  |    |
//   cycles   .....|.....|.......|.......|....    each: take, agree, fuse, launch
//                        \       \       \    .
//   comm                  g3      g2+g1   g0     wait, copy in, all-reduce, copy out
//
// So what goes together depends on when gradients are ready, and differs from step to step; ranks
// agree on it every time, through `control`. Gradients lie in one arena that `data` has made, so
// that one that goes alone is not copied. Beside them there is the fusion buffer: the threshold, or
// as much as all gradients where that is less.
//
// Once a rank destroys its reducer, or its cycles fail, those of all ranks end, and whoever waits
// for gradients then gets a communication error.
class HorovodReducer final : public GradientReducer {
 public:
  // Collective over `data`. All outlive this; the cycles alone use `control`, which has the same
  // ranks.
  HorovodReducer(Platform& platform, Replica& replica, const ParameterLayout& layout,
                 Communicator& data, Communicator& control, const HorovodOptions& options);
  ~HorovodReducer() override;

  void begin_step() override;
  [[nodiscard]] const TensorList& gradients() const override { return gradients_.tensors; }
  [[nodiscard]] std::optional<Span<float>> flat_gradients() const override {
    return gradients_.flat;
  }
  void gradient_ready(int segment) override;

  // Blocks until the averages are there. Gradients that backward did not make count as zeros.
  void finish() override;

  [[nodiscard]] std::vector<Bytes> bucket_sizes() const override { return latest_.groups; }
  // By place in their steps, copies in and out of the fusion buffer included; steps differ in how
  // they are fused.
  [[nodiscard]] std::vector<CollectiveTimes> collect_collectives() override {
    return fused_.collect_times();
  }

  void synchronize() override;

  // Of the latest step that finished: from when its predecessor's gradients were all launched until
  // its own were.
  [[nodiscard]] const horovod::StepRecord& latest_step() const { return latest_; }

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
  horovod::EventList ready_;        // by segment, on compute: the gradient is made
  std::vector<bool> given_;         // by segment: in this step
  std::unique_ptr<Event> reduced_;  // on comm: all averages of the step are there
  horovod::StepRecord latest_;
  horovod::TensorQueue queue_;

  // The cycles' own.
  horovod::Controller controller_;
  std::optional<TimePoint> waiting_since_;  // for other ranks' gradients, and none came
  std::size_t launched_groups_ = 0;         // of the step in hand
  std::size_t launched_tensors_ = 0;        // the same

  horovod::FusedAllReduce fused_;  // the cycles enqueue; finish() waits, when they have nothing to
  std::unique_ptr<Timer> timer_;   // last: it uses all of the above
};

}  // namespace tandem::ddp
