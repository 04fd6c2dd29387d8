// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/comm/communicator.h"
#include "common/optim/optimizer.h"
#include "common/parallel/interpreters.h"
#include "common/parallel/micro_batches.h"
#include "common/parallel/replica.h"
#include "common/parallel/strategy.h"
#include "ddp/bucket_reducer.h"

namespace tandem::ddp {

// One rank that holds its own weights and keeps the weights equal on all ranks by averaging
// gradients: the common part of ddp, a process per device, and dp-allreduce, a thread per device.
// Either strategy brings the rank's samples.
//
//   construction   same parameters on all ranks? then rank 0 broadcasts weights and buffers, once
//
//   compute   buffers | forward | loss | backward: g3  g2  g1  g0 | exposed_comm | update
//                                                   |filled   |filled    ^ reduced, per bucket
//   comm                                            +> all-reduce 0 -> all-reduce 1
//
// Averaging the ranks' mean-loss gradients gives the full-batch gradient because shares are equal.
// Micro-batches run forward, loss (divided by the number of micro-batches) and backward in turn;
// the last micro-batch's gradients, added to the earlier ones, are reduced.
class AllReduceRank {
 public:
  // A rank with `samples` per step. Throws a usage error
  // where the micro-batches do not divide the samples. `interpreter` is that of the thread which
  // calls train(). Collective. All arguments outlive the rank.
  AllReduceRank(Device& device, const Model& model, std::int64_t samples,
                Communicator& communicator, Interpreter& interpreter,
                const TrainingOptions& options, const ReducerOptions& reducer);
  ~AllReduceRank();

  // Enqueues all work of a step behind the input, for which the compute stream waits.
  void train(Span<const float> inputs, Span<const float> targets);

  void synchronize();

  [[nodiscard]] Replica& replica() { return replica_; }
  [[nodiscard]] std::map<std::string, std::string> implementations() const {
    return replica_.implementations();
  }
  [[nodiscard]] const TensorList& gradients() const { return reducer_->gradients(); }
  [[nodiscard]] std::vector<Bytes> bucket_sizes() const { return reducer_->bucket_sizes(); }
  [[nodiscard]] DeviceCollectives collect_collectives() {
    return {replica_.device().id().index, reducer_->collect_collectives()};
  }

 private:
  void broadcast_buffers();
  void update();

  // The order matters: replica and reducer end their streams' work before the objects that the work
  // uses are destroyed.
  Communicator& communicator_;
  Interpreter& interpreter_;
  const std::unique_ptr<Buffer> loss_;
  const std::unique_ptr<Optimizer> optimizer_;
  Replica replica_;
  MicroBatches micro_batches_;
  std::unique_ptr<BucketReducer> reducer_;
};

}  // namespace tandem::ddp
