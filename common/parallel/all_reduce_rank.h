// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/comm/communicator.h"
#include "common/optim/make_optimizer.h"
#include "common/parallel/bucket_reducer.h"
#include "common/parallel/interpreters.h"
#include "common/parallel/replica.h"
#include "common/parallel/training_options.h"

namespace tandem {

// One rank that holds its own weights and keeps them equal to the others' by averaging gradients:
// what ddp does in a process per device and dp-allreduce in a thread per device. Where its samples
// come from is theirs to say.
//
//   construction   weights: rank 0 broadcasts, once
//
//   compute   buffers | forward | loss | backward: g3  g2  g1  g0 | exposed_comm | update
//                                                   |filled   |filled    ^ reduced, per bucket
//   comm                                            +> all-reduce 0 -> all-reduce 1
//
// Averaging the ranks' mean-loss gradients is the full-batch gradient because shares are equal.
class AllReduceRank {
 public:
  // For `samples` per step. Collective over `communicator`. `interpreter` is that of the thread
  // which calls train(). Both outlive this.
  AllReduceRank(Device& device, const Model& model, std::int64_t samples,
                Communicator& communicator, Interpreter& interpreter,
                const TrainingOptions& options, const ReducerOptions& reducer);

  // Enqueues all of a step behind the input, which the compute stream has or waits for.
  void train(Span<const float> inputs, Span<const float> targets);

  void synchronize();

  [[nodiscard]] Replica& replica() { return replica_; }
  [[nodiscard]] const TensorList& gradients() const { return reducer_.gradients(); }
  [[nodiscard]] std::vector<Bytes> bucket_sizes() const { return reducer_.bucket_sizes(); }

 private:
  void broadcast_buffers();
  void update();

  // In this order: replica and reducer end their streams' work before what it works on goes.
  Communicator& communicator_;
  Interpreter& interpreter_;
  const std::unique_ptr<Buffer> loss_;
  const std::unique_ptr<Optimizer> optimizer_;
  Replica replica_;
  BucketReducer reducer_;
};

}  // namespace tandem
