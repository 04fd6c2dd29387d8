// SPDX-License-Identifier: Apache-2.0
//
// One rank's step. Every rank does the same on its own device and its own share of the batch; they
// meet only in the collectives. Host: one thread, which enqueues and never waits.
//
//   construction   weights: rank 0 broadcasts, once
//
//   compute   input | forward | loss | backward: g3  g2  g1  g0 | exposed_comm | update
//                                                 |filled   |filled    ^ reduced, per bucket
//   comm                                          +> all-reduce 0 -> all-reduce 1
//
//   --grads=copy   bucket_copy after each gradient (divided on the way in), and back after the wait
//   --overlap=off  all-reduces start at exposed_comm
//   a model with buffers: rank 0 broadcasts them before every forward (phase buffers)
//
// All but the input is what dp-allreduce does as well, in common/parallel/all_reduce_rank.h.
#include "ddp/distributed_data_parallel.h"

namespace tandem::ddp {

DistributedDataParallel::DistributedDataParallel(Platform& platform, Device& device,
                                                 const Model& model, Communicator& communicator,
                                                 const TrainingOptions& options,
                                                 const ReducerOptions& reducer)
    : interpreter_(options.interpreter.dispatch_cost),
      batch_(platform, device, model,
             share_of_batch(options.global_batch, communicator.rank(), communicator.size()),
             options),
      rank_(device, model, batch_.count(), communicator, interpreter_, options, reducer) {}

void DistributedDataParallel::step() {
  Replica& replica = rank_.replica();
  replica.timer().begin(replica.stream(), Phase::kInput);
  batch_.load(replica.stream(), interpreter_);
  rank_.train(batch_.inputs(), batch_.targets());
}

std::vector<DeviceTimes> DistributedDataParallel::collect_phases() {
  Replica& replica = rank_.replica();
  return {{replica.device().id().index, replica.timer().collect()}};
}

}  // namespace tandem::ddp
