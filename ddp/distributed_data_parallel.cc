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
//
// Averaging the ranks' mean-loss gradients is the full-batch gradient because shares are equal.
#include "ddp/distributed_data_parallel.h"

namespace tandem::ddp {
namespace {

// A flat update runs over the arena's gaps as well.
std::int64_t state_count(const ParameterLayout& layout, GradsMode grads) {
  return grads == GradsMode::kCopy ? layout.arena_count() : layout.parameter_count();
}

}  // namespace

DistributedDataParallel::DistributedDataParallel(Platform& platform, Device& device,
                                                 const Model& model, Communicator& communicator,
                                                 const TrainingOptions& options,
                                                 const ReducerOptions& reducer)
    : batch_(platform, device, model,
             share_of_batch(options.global_batch, communicator.rank(), communicator.size()),
             options),
      optimizer_(
          make_optimizer(device, state_count(model.layout(), reducer.grads), options.optimizer)),
      replica_(device, model, batch_.count(), options.phases),
      reducer_(replica_, model.layout(), communicator, reducer) {
  // Each rank could make the same weights from the seed; sending them is what DDP does, and keeps
  // ranks equal where their weights come from elsewhere.
  if (communicator.rank() == 0) replica_.initialise(options.seed, options.distribution);
  communicator.broadcast(replica_.stream(), replica_.parameters().flat, 0);
  replica_.stream().synchronize();
}

void DistributedDataParallel::step() {
  Stream& stream = replica_.stream();
  PhaseTimer& timer = replica_.timer();

  reducer_.begin_step();
  timer.begin(stream, Phase::kInput);
  batch_.load(stream);
  timer.begin(stream, Phase::kForward);
  replica_.forward(batch_.inputs());
  timer.begin(stream, Phase::kLoss);
  batch_.compute_loss(replica_);
  timer.begin(stream, Phase::kBackward);
  replica_.backward(batch_.inputs(), reducer_.gradients(), reducer_);
  reducer_.finish();  // phases bucket_copy, exposed_comm
  timer.begin(stream, Phase::kUpdate);
  update();
  timer.end_step(stream);
}

// Copies of gradients lie in one arena, as weights do: one operation, as without a wrapper. Views
// lie in the order of the buckets, which is not that of the weights: an operation per tensor.
void DistributedDataParallel::update() {
  Operations& operations = replica_.operations();
  if (const auto flat = reducer_.flat_gradients()) {
    optimizer_->step(operations, replica_.stream(), replica_.parameters().flat, *flat);
  } else {
    optimizer_->step(operations, replica_.stream(), replica_.parameters().tensors,
                     as_const(reducer_.gradients()));
  }
}

void DistributedDataParallel::synchronize() {
  replica_.stream().synchronize();
  reducer_.synchronize();
}

std::vector<DeviceTimes> DistributedDataParallel::collect_phases() {
  return {{replica_.device().id().index, replica_.timer().collect()}};
}

}  // namespace tandem::ddp
