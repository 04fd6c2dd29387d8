// SPDX-License-Identifier: Apache-2.0
//
// One rank's step. Every rank does the same on its own device and its own share of the batch; ranks
// meet only in the collectives. On the host one thread enqueues and never waits.
//
//   construction   weights: rank 0 broadcasts, once
//
//   compute   input | forward | loss | backward: g3  g2  g1  g0 | exposed_comm | update
//                                                 |filled   |filled    ^ reduced, per bucket
//   comm                                          +> all-reduce 0 -> all-reduce 1
//
//   --grads=copy   each gradient is divided on its way into its bucket, in backward; bucket_copy
//                  brings the bucket's averages back after the wait
//   --overlap=off  all-reduces start at exposed_comm
//   --accumulate   forward, loss and backward per micro-batch; the last one's gradients are reduced
//   a model with buffers: rank 0 broadcasts them before every forward (phase buffers)
//
// All but the input is what dp-allreduce does as well, in ddp/all_reduce_rank.h.
#include "ddp/distributed_data_parallel.h"

namespace tandem::ddp {

DistributedDataParallel::DistributedDataParallel(Platform& platform, Device& device,
                                                 const Model& model, Communicator& communicator,
                                                 const TrainingOptions& options,
                                                 const ReducerOptions& reducer)
    : interpreter_(options.interpreter.costs),
      share_(share_of_batch(options.global_batch, communicator.rank(), communicator.size())),
      batch_(platform, device, model, share_, options),
      rank_(device, model, share_.count, communicator, interpreter_, options, reducer) {}

void DistributedDataParallel::step() {
  Replica& replica = rank_.replica();
  replica.timer().begin(replica.stream(), Phase::kInput);
  batch_.load(replica, interpreter_);
  rank_.train(batch_.inputs(), batch_.targets());
}

}  // namespace tandem::ddp
