// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/base/units.h"
#include "common/comm/communicator.h"
#include "common/model/model.h"
#include "common/model/parameter_layout.h"
#include "common/parallel/replica.h"
#include "common/runtime/stream.h"
#include "common/trace/phase_timer.h"
#include "ddp/bucket_plan.h"
#include "ddp/communication_hook.h"
#include "ddp/reducer_options.h"

namespace tandem::ddp {

// torch's Reducer: averages gradients over ranks in buckets, while backward goes on. Each bucket is
// all-reduced on a stream of the reducer as soon as the bucket's last gradient is made.
//
//   compute  backward: g3 g2 | g1 g0 |            wait 0   wait 1    -> update
//                          \        \                ^        ^
//   comm                    all-reduce 0    all-reduce 1
//
// Buckets are launched in index order, whatever order the buckets fill in, so that all ranks agree.
// The first step runs on one bucket of all gradients; the order in which that step makes the
// gradients then decides the buckets (rank 0's order, sent to all ranks), which are built when the
// second step begins. With a static graph the first step also reduces after backward only.
//
// Used by the rank's thread. A step is begin_step(), a backward into gradients() which reports
// each gradient, then finish().
class BucketReducer final : public GradientSink {
 public:
  // Collective. A hook, where given, makes each bucket the average. All arguments outlive the
  // reducer.
  BucketReducer(Replica& replica, const ParameterLayout& layout, Communicator& communicator,
                const ReducerOptions& options, std::unique_ptr<CommunicationHook> hook = nullptr);
  ~BucketReducer() override;

  // To be called at the start of each step, before forward. Collective where the step rebuilds the
  // buckets.
  void begin_step();

  // The gradients that backward writes, by segment. They lie in the buckets as views, else apart
  // from the buckets; views move when buckets are rebuilt.
  [[nodiscard]] const TensorList& gradients() const;

  // The gradients as one arena, where they lie in one.
  [[nodiscard]] std::optional<Span<float>> flat_gradients() const;

  void gradient_ready(int segment) override;

  // To be called after backward: later work on the compute stream may read averages from
  // gradients().
  void finish();

  // Bytes of gradients that go through one collective each, in launch order.
  [[nodiscard]] std::vector<Bytes> bucket_sizes() const;

  // The collectives over the steps since the last call, in launch order; synchronise first. Empty
  // with phases off.
  [[nodiscard]] std::vector<CollectiveTimes> collect_collectives();

  // Waits for the collectives' stream; throws its error.
  void synchronize();

 private:
  struct Bucket;
  struct Place {  // the place of a segment
    std::size_t bucket = 0;
    bool ready = false;  // ready in this step
  };

  void build(const std::vector<BucketPlan>& plans);
  void rebuild_in_ready_order();
  [[nodiscard]] bool reduces_after_backward() const;
  void add_to_bucket(int segment);
  void bring_into_bucket(int segment);
  void mark_filled(std::size_t index);
  void launch_ready();
  void launch(std::size_t index);
  void copy_out(const Bucket& bucket);

  Replica& replica_;
  const ParameterLayout& layout_;
  Communicator& communicator_;
  const ReducerOptions options_;
  const std::unique_ptr<CommunicationHook> hook_;  // absent: the reducer all-reduces
  std::optional<Arena> own_gradients_;             // with kCopy: gradients apart from the buckets
  std::vector<std::unique_ptr<Bucket>> buckets_;
  std::vector<Place> places_;     // by segment
  TensorList views_;              // by segment: the buckets' memory
  std::vector<int> ready_order_;  // order of gradients in the first step
  bool rebuilt_ = false;
  std::size_t next_launch_ = 0;
  const std::unique_ptr<Event> backward_done_;  // for collectives that wait for all of backward
  CollectiveTimer timer_;
  std::unique_ptr<Stream> comm_;  // last: the stream ends before the buckets
};

}  // namespace tandem::ddp
