// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/shard_by_shard.h"

#include "common/parallel/replica.h"
#include "common/parallel/shards.h"
#include "common/runtime/copy.h"

namespace tandem {

struct ShardByShard::ShardWork {
  ShardWork(Platform& platform, Device& device, const Model& model, Shard shard,
            const TrainingOptions& options)
      : share(shard),
        batch(platform, device, model, shard, options),
        loss(device.allocate(bytes_of<float>(1))),
        gradients(make_arena(device, model.layout())),
        replica(device, model, shard.count, options) {
    replica.initialise(options.seed, options.distribution);
    replica.stream().synchronize();
  }

  const Shard share;
  LocalBatch batch;
  const std::unique_ptr<Buffer> loss;
  const Arena gradients;
  Replica replica;  // last: its stream works on all members above
};

namespace {

TrainingOptions untimed(TrainingOptions options) {
  options.phases = {PhaseTiming::kOff};
  return options;
}

}  // namespace

ShardByShard::ShardByShard(Platform& platform, Device& device, const Model& model,
                           const std::vector<Shard>& shards, const TrainingOptions& options)
    : batch_(static_cast<float>(options.global_batch)),
      interpreter_(DispatchCosts{}),
      sum_(make_arena(device, model.layout())),
      optimizer_(make_optimizer(device, model.layout().arena_count(), options.optimizer)) {
  TANDEM_CHECK(!shards.empty(), "a batch of {} without a shard", options.global_batch);
  for (const Shard shard : shards) {
    shards_.push_back(
        std::make_unique<ShardWork>(platform, device, model, shard, untimed(options)));
  }
}

ShardByShard::~ShardByShard() = default;

TensorList ShardByShard::weights() { return first().replica.parameters().tensors; }

const ModuleState& ShardByShard::module() { return first().replica.state(); }

void ShardByShard::step() {
  Stream& stream = first().replica.stream();
  enqueue_zero(stream, sum_.flat);
  for (const auto& shard : shards_) add(*shard);
  optimizer_->step(first().replica.operations(), stream, first().replica.parameters().flat,
                   sum_.flat);
  stream.synchronize();
}

// Adds a shard's gradient to the sum. The first shard's stream waits for the shard's own stream,
// and is synchronised before the shard's stream reads the weights.
void ShardByShard::add(ShardWork& shard) {
  Stream& stream = first().replica.stream();
  Stream& own = shard.replica.stream();
  if (&shard != &first()) {
    enqueue_copy(stream, shard.replica.parameters().flat,
                 Span<const float>(first().replica.parameters().flat));
  }
  stream.synchronize();
  IgnoreGradients nobody;
  shard.batch.load(shard.replica, interpreter_);
  shard.replica.forward(shard.batch.inputs(), interpreter_);
  shard.replica.compute_loss(shard.batch.targets(), shard.loss->as<float>(), interpreter_);
  shard.replica.backward(shard.batch.inputs(), shard.gradients.tensors, nobody);
  own.synchronize();
  Operations& operations = first().replica.operations();
  const Span<float> gradient = shard.gradients.flat;
  const float part = static_cast<float>(shard.share.count) / batch_;
  operations.enqueue(stream, Scale{.in = gradient, .out = gradient, .factor = part});
  operations.enqueue(stream, Add{.a = sum_.flat, .b = gradient, .sum = sum_.flat});
}

void ShardByShard::load(const TensorValues& weights) {
  Stream& stream = first().replica.stream();
  const TensorList& tensors = first().replica.parameters().tensors;
  TANDEM_CHECK(weights.size() == tensors.size(), "{} tensors of {}", weights.size(),
               tensors.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const DeviceId host{stream.device().backend, DeviceId::kHostMemory};
    enqueue_copy(stream, tensors[i],
                 Span<const float>(weights[i].data(), std::ssize(weights[i]), host));
  }
  stream.synchronize();
}

}  // namespace tandem
