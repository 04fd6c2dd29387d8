// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/shards.h"

#include <algorithm>
#include <utility>

#include "common/base/error.h"
#include "common/base/rounding.h"
#include "common/runtime/copy.h"

namespace tandem {

std::vector<Shard> chunk_batch(std::int64_t batch, int devices) {
  TANDEM_CHECK(batch >= 1 && devices >= 1, "{} samples for {} devices", batch, devices);
  const std::int64_t most = ceil_div(batch, devices);
  std::vector<Shard> shards;
  for (std::int64_t first = 0; first < batch; first += most) {
    shards.push_back({first, std::min(most, batch - first)});
  }
  return shards;
}

Shard share_of_batch(std::int64_t batch, int rank, int ranks) {
  if (batch % ranks != 0) {
    fail(ErrorKind::kUsage,
         "a global batch of {} cannot be shared evenly by {} ranks, and with uneven shares the "
         "average over ranks is not the full-batch gradient: "
         "use a multiple of {}",
         batch, ranks, ranks);
  }
  const std::int64_t count = batch / ranks;
  return {rank * count, count};
}

BatchShape batch_shape(const Model& model, Shard shard, std::vector<std::int64_t> input_lengths) {
  const Objective objective = model.objective();
  return {.first = shard.first,
          .count = shard.count,
          .input_width = model.input_width(),
          .target_width = objective.target_width,
          .input_classes = model.input_classes(),
          .target_classes = objective.classes,
          .input_lengths = std::move(input_lengths)};
}

LocalBatch::LocalBatch(Platform& platform, Device& device, const Model& model, Shard share,
                       const TrainingOptions& options)
    : place_(options.input),
      host_(platform, batch_shape(model, share, options.input_lengths), options.seed,
            options.distribution, host_memory_of(options.input)),
      inputs_(device.allocate(host_.inputs().size_bytes())),
      targets_(device.allocate(host_.targets().size_bytes())) {
  if (place_ != InputPlace::kDevice) return;
  const auto stream = device.make_stream(StreamPriority::kNormal);
  enqueue_copy(*stream, inputs_->as<float>(), host_.inputs());
  enqueue_copy(*stream, targets_->as<float>(), host_.targets());
  stream->synchronize();
}

void LocalBatch::load(Replica& replica, Interpreter& interpreter) {
  if (place_ == InputPlace::kDevice) return;
  Stream& stream = replica.stream();
  dispatch(interpreter, stream, DispatchKind::kOperation, 2);
  replica.timer().copy(stream, inputs_->as<float>(), host_.inputs());
  replica.timer().copy(stream, targets_->as<float>(), host_.targets());
  if (place_ == InputPlace::kPageable) stream.synchronize();
}

}  // namespace tandem
