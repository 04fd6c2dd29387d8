// SPDX-License-Identifier: Apache-2.0
//
// One rank's step. Ranks meet in five collectives, each on the compute stream; waiting for the
// others is part of the phase of the collective in which it happens.
//
//              rank 0                                  rank k
//   scatter    the whole batch, in shards -----------> shard k
//   replicate  weights, then buffers ----------------> into the replica
//   forward    forward(shard 0)                        forward(shard k)
//   gather     outputs of the whole batch <----------- outputs
//   loss       mean over the whole batch
//   scatter_   slices of the output gradient --------> slice k
//     grad
//   backward   backward                                backward
//   reduce     sum over ranks, in rank order <-------- gradients
//   update     optimizer, on rank 0 alone
//
// Weights and gradients go in one piece. Gradients are summed, never averaged: the loss is a mean
// over the whole batch, so shards may be uneven.
#include "dp/ddp_replicate.h"

#include "common/base/error.h"
#include "common/parallel/scatter.h"
#include "common/runtime/copy.h"
#include "dp/replicate.h"

namespace tandem::dp {
namespace {

constexpr int kRootRank = 0;

std::vector<Shard> piece_per_rank(std::int64_t batch, int ranks) {
  std::vector<Shard> shards = chunk_batch(batch, ranks);
  if (static_cast<int>(shards.size()) == ranks) return shards;
  fail(ErrorKind::kUsage,
       "ddp-replicate: a batch of {} gives {} pieces, which leaves some of {} ranks without work: "
       "use a larger batch or fewer devices",
       batch, shards.size(), ranks);
}

std::vector<Block> blocks_of(const std::vector<Shard>& shards, std::int64_t width) {
  std::vector<Block> blocks;
  for (const Shard& shard : shards) blocks.push_back({shard.first * width, shard.count * width});
  return blocks;
}

// The bytes of all ranks' blocks.
Bytes bytes_of_all(const std::vector<Block>& blocks) {
  return bytes_of<float>(blocks.back().offset + blocks.back().count);
}

}  // namespace

struct DdpReplicate::Root {
  Root(Platform& platform, Device& device, const Model& model, const TrainingOptions& options,
       Bytes output_bytes)
      : batch(platform, model, options, device, device),
        outputs(device.allocate(output_bytes)),
        output_gradients(device.allocate(output_bytes)),
        loss(device.allocate(bytes_of<float>(1))),
        optimizer(make_optimizer(device, model.layout().arena_count(), options.optimizer)) {
    if (options.input == InputPlace::kDevice) return;
    copied_targets = device.allocate(batch.targets().size_bytes());
  }

  // The targets of the whole batch on the device, once they are copied there.
  [[nodiscard]] Span<const float> targets() const {
    return copied_targets ? Span<const float>(copied_targets->as<float>()) : batch.targets();
  }

  const WholeBatch batch;
  std::unique_ptr<Buffer> copied_targets;          // null: the batch starts on the device
  const std::unique_ptr<Buffer> outputs;           // outputs of the whole batch
  const std::unique_ptr<Buffer> output_gradients;  // output gradients of the whole batch
  const std::unique_ptr<Buffer> loss;
  const std::unique_ptr<Optimizer> optimizer;
};

DdpReplicate::DdpReplicate(Platform& platform, Device& device, const Model& model,
                           Communicator& communicator, const TrainingOptions& options)
    : model_(model),
      communicator_(communicator),
      shards_(piece_per_rank(options.global_batch, communicator.size())),
      inputs_(blocks_of(shards_, model.input_width())),
      input_place_(options.input),
      interpreter_(options.interpreter.costs),
      input_(device.allocate(
          bytes_of<float>(inputs_[static_cast<std::size_t>(communicator.rank())].count))),
      gradients_(make_arena(communicator, model.layout())),
      replica_(device, model, shards_[static_cast<std::size_t>(communicator.rank())].count, options,
               OutputType::kFp32, make_arena(communicator, model.layout())) {
  const std::int64_t samples = shards_[static_cast<std::size_t>(communicator.rank())].count;
  outputs_ = blocks_of(shards_, replica_.output().size() / samples);
  if (communicator.rank() == kRootRank) {
    root_ = std::make_unique<Root>(platform, device, model, options, bytes_of_all(outputs_));
  }
  replica_.prime(gradients_.tensors);
  if (root_) replica_.initialise(options.seed, options.distribution);
  replica_.stream().synchronize();
  communicator_.barrier();  // no rank enqueues a collective while other ranks take memory
}

// The destructor is defined here, where Root is complete.
DdpReplicate::~DdpReplicate() {
  static_cast<void>(capture_error([&] { replica_.stream().synchronize(); }));
}

void DdpReplicate::step() {
  IgnoreGradients nobody;  // the reduction waits for all gradients
  scatter();
  replicate();
  begin(Phase::kForward);
  replica_.forward(input_->as<float>(), interpreter_);
  gather();
  if (root_) compute_loss();
  scatter_gradient();
  begin(Phase::kBackward);
  replica_.begin_backward(interpreter_);
  replica_.backward(input_->as<float>(), gradients_.tensors, nobody);
  replica_.end_backward(interpreter_);
  begin(Phase::kReduce);
  if (root_) dispatch(interpreter_, replica_.stream(), DispatchKind::kCall);
  collective("reduce", gradients_.flat.size_bytes(),
             [&](Stream& stream) { communicator_.reduce(stream, gradients_.flat, kRootRank); });
  if (root_) update();
  replica_.timer().end_step(replica_.stream());
}

void DdpReplicate::scatter() {
  begin(Phase::kScatter);
  if (root_) {
    dispatch(interpreter_, replica_.stream(), DispatchKind::kScatter, communicator_.size());
  }
  collective("scatter", bytes_of_all(inputs_), [&](Stream& stream) {
    communicator_.scatter(stream, root_ ? root_->batch.inputs() : Span<const float>(),
                          input_->as<float>(), inputs_, kRootRank);
  });
  if (!root_ || !root_->copied_targets) return;
  dispatch(interpreter_, replica_.stream(), DispatchKind::kOperation);
  replica_.timer().copy(replica_.stream(), root_->copied_targets->as<float>(),
                        root_->batch.targets());
  if (input_place_ == InputPlace::kPageable) replica_.stream().synchronize();
}

void DdpReplicate::replicate() {
  begin(Phase::kReplicate);
  const auto broadcast = [&](Span<float> values) {
    collective("broadcast", values.size_bytes(),
               [&](Stream& stream) { communicator_.broadcast(stream, values, kRootRank); });
  };
  broadcast(replica_.parameters().flat);
  if (model_.buffers().size() > 0) broadcast(replica_.buffers().flat);
  charge_construction(model_, interpreter_, replica_.stream());
}

void DdpReplicate::gather() {
  begin(Phase::kGather);
  if (root_) dispatch(interpreter_, replica_.stream(), DispatchKind::kGather, communicator_.size());
  collective("gather", bytes_of_all(outputs_), [&](Stream& stream) {
    communicator_.gather(stream, replica_.output().as<float>(),
                         root_ ? root_->outputs->as<float>() : Span<float>(), outputs_, kRootRank);
  });
}

void DdpReplicate::compute_loss() {
  begin(Phase::kLoss);
  dispatch(interpreter_, replica_.stream(), DispatchKind::kCall);
  enqueue_loss(replica_.operations(), replica_.stream(), model_.objective(),
               {.prediction = root_->outputs->as<float>(),
                .target = root_->targets(),
                .gradient = root_->output_gradients->as<float>(),
                .loss = root_->loss->as<float>(),
                .padding = replica_.output_padding()});
}

void DdpReplicate::scatter_gradient() {
  begin(Phase::kScatterGrad);
  if (root_) dispatch(interpreter_, replica_.stream(), DispatchKind::kCall);
  collective("scatter", bytes_of_all(outputs_), [&](Stream& stream) {
    communicator_.scatter(stream, root_ ? root_->output_gradients->as<float>() : Span<float>(),
                          replica_.output_gradient().as<float>(), outputs_, kRootRank);
  });
}

void DdpReplicate::update() {
  begin(Phase::kUpdate);
  dispatch(interpreter_, replica_.stream(), DispatchKind::kOptimizer, model_.layout().size());
  root_->optimizer->step(replica_.operations(), replica_.stream(), replica_.parameters().flat,
                         gradients_.flat);
}

}  // namespace tandem::dp
