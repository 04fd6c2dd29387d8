// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/comm/communicator.h"
#include "common/parallel/arena.h"
#include "common/parallel/replica.h"
#include "ddp/bucket_plan.h"
#include "ddp/communication_hook.h"
#include "ddp/gradient_reducer.h"
#include "ddp/reducer_options.h"

namespace tandem::ddp {

// torch's Reducer: averages gradients over ranks in buckets, each all-reduced on a stream of its
// own as soon as its last gradient is there, while backward goes on.
//
//   compute  backward: g3 g2 | g1 g0 |            wait 0   wait 1    -> update
//                          \        \                ^        ^
//   comm                    all-reduce 0    all-reduce 1
//
// Buckets are launched in index order, whatever order they fill in, so that all ranks agree. The
// first step runs on one bucket of everything; its order of gradients then decides the buckets
// (rank 0's order, sent to all), which are built when the second step begins. With a static graph
// the first step also reduces after backward only.
class BucketReducer final : public GradientReducer {
 public:
  // Collective. With a hook, that makes each bucket the average. All outlive this.
  BucketReducer(Replica& replica, const ParameterLayout& layout, Communicator& communicator,
                const ReducerOptions& options, std::unique_ptr<CommunicationHook> hook = nullptr);
  ~BucketReducer() override;

  // Collective when it rebuilds.
  void begin_step() override;

  // In their buckets as views, else apart; views move when buckets are rebuilt.
  [[nodiscard]] const TensorList& gradients() const override;
  [[nodiscard]] std::optional<Span<float>> flat_gradients() const override;

  void gradient_ready(int segment) override;
  void finish() override;

  // Sums are divided by so many ranks from now on, at first by all.
  void set_divisor(int ranks) { divisor_ = ranks; }

  // In place of backward and finish(), on a rank without data: takes part in every bucket's
  // collective with zeros. What gradients() holds afterwards is of no use.
  void contribute_nothing();

  [[nodiscard]] std::vector<Bytes> bucket_sizes() const override;
  [[nodiscard]] std::vector<CollectiveTimes> collect_collectives() override;
  [[nodiscard]] CaptureObserver* capture_observer() override { return &timer_; }
  void synchronize() override;

 private:
  struct Bucket;
  struct Place {  // of a segment
    std::size_t bucket = 0;
    Span<float> view;
    bool ready = false;  // in this step
  };

  void build(const std::vector<BucketPlan>& plans);
  [[nodiscard]] HookBucket as_hook_sees(const Bucket& bucket) const;
  void rebuild_in_ready_order();
  [[nodiscard]] bool reduces_after_backward() const;
  [[nodiscard]] bool collective_averages() const;
  void add_to_bucket(int segment);
  void divide_into_bucket(int segment);
  void mark_filled(std::size_t index);
  void launch_ready();
  void launch(std::size_t index);
  void copy_out(const Bucket& bucket);

  Replica& replica_;
  const ParameterLayout& layout_;
  Communicator& communicator_;
  const ReducerOptions options_;
  const std::unique_ptr<CommunicationHook> hook_;  // absent: all-reduce
  int divisor_;
  std::optional<Arena> own_gradients_;  // kCopy: apart from the buckets
  std::vector<std::unique_ptr<Bucket>> buckets_;
  std::vector<Place> places_;     // by segment
  TensorList views_;              // by segment: the buckets' memory
  std::vector<int> ready_order_;  // of the first step
  bool rebuilt_ = false;
  std::size_t next_launch_ = 0;
  const std::unique_ptr<Event> backward_done_;  // where collectives wait for all of it
  CollectiveTimer timer_;
  std::unique_ptr<Stream> comm_;  // last: ends its work before the buckets go
};

}  // namespace tandem::ddp
