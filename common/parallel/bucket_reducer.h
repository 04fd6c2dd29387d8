// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/comm/communicator.h"
#include "common/parallel/arena.h"
#include "common/parallel/bucket_plan.h"
#include "common/parallel/replica.h"

namespace tandem {

enum class GradsMode {
  kCopy,   // torch's default: each gradient is copied into its bucket, divided on the way, and back
  kViews,  // backward writes straight into the buckets; the collective averages
};

enum class Overlap { kOn, kOff };

struct ReducerOptions {
  GradsMode grads = GradsMode::kCopy;
  Overlap overlap = Overlap::kOn;  // off: all collectives after backward
  Bytes bucket_cap = mib(25);
  Bytes first_bucket_cap = mib(1);
};

// Averages gradients over ranks in buckets, each all-reduced on a stream of its own as soon as its
// last gradient is there, while backward goes on.
//
//   compute  backward: g3 g2 | g1 g0 |            wait 0   wait 1    -> update
//                          \        \                ^        ^
//   comm                    all-reduce 0    all-reduce 1
//
// Buckets are launched in index order, whatever order they fill in, so that all ranks agree. The
// first step runs on one bucket of everything; its order of gradients then decides the buckets
// (rank 0's order, sent to all), which are built when the second step begins.
class BucketReducer final : public GradientSink {
 public:
  // Collective. All outlive this.
  BucketReducer(Replica& replica, const ParameterLayout& layout, Communicator& communicator,
                const ReducerOptions& options);
  ~BucketReducer() override;

  // At the start of each step; collective when it rebuilds.
  void begin_step();

  // Where backward writes, by segment; changes when buckets are rebuilt.
  [[nodiscard]] const TensorList& gradients() const;

  // The same as one arena, where they lie in one: copies do. Views lie in buckets, in the order in
  // which backward makes them, and where they lie changes.
  [[nodiscard]] std::optional<Span<float>> flat_gradients() const;

  void gradient_ready(int segment) override;

  // After backward: the compute stream waits for the averages, and copies them back if they are
  // copies. What follows on it may read gradients().
  void finish();

  [[nodiscard]] std::vector<Bytes> bucket_sizes() const;

  // Waits for the communication stream; throws its error.
  void synchronize();

 private:
  struct Bucket;
  struct Place {  // of a segment
    std::size_t bucket = 0;
    Span<float> view;
    bool ready = false;  // in this step
  };

  void build(const std::vector<BucketPlan>& plans);
  void rebuild_in_ready_order();
  void mark_ready(std::size_t bucket);
  void launch_ready();
  void launch(Bucket& bucket);
  void copy_in(int segment);
  void copy_out(const Bucket& bucket);

  Replica& replica_;
  const ParameterLayout& layout_;
  Communicator& communicator_;
  const ReducerOptions options_;
  std::optional<Arena> own_gradients_;  // kCopy: apart from the buckets
  std::vector<std::unique_ptr<Bucket>> buckets_;
  std::vector<Place> places_;     // by segment
  TensorList views_;              // by segment: the buckets' memory
  std::vector<int> ready_order_;  // of the first step
  bool rebuilt_ = false;
  std::size_t next_launch_ = 0;
  std::unique_ptr<Stream> comm_;  // last: ends its work before the buckets go
};

}  // namespace tandem
