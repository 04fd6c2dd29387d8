// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/local_batch.h"

#include "common/runtime/copy.h"

namespace tandem {

LocalBatch::LocalBatch(Platform& platform, Device& device, const Model& model, Piece share,
                       const TrainingOptions& options)
    : place_(options.input),
      host_(platform, batch_shape(model, share, options.input_lengths), options.seed,
            options.distribution, host_memory_of(options.input)),
      inputs_(device.allocate(host_.inputs().bytes())),
      targets_(device.allocate(host_.targets().bytes())) {
  if (place_ != InputPlace::kDevice) return;
  const auto stream = device.make_stream(StreamPriority::kNormal);
  enqueue_copy(*stream, inputs_->as<float>(), host_.inputs());
  enqueue_copy(*stream, targets_->as<float>(), host_.targets());
  stream->synchronize();
}

void LocalBatch::load(Replica& replica, Interpreter& interpreter) {
  if (place_ == InputPlace::kDevice) return;
  Stream& stream = replica.stream();
  dispatch(interpreter, stream, 2);
  replica.timer().copy(stream, inputs_->as<float>(), host_.inputs());
  replica.timer().copy(stream, targets_->as<float>(), host_.targets());
  if (place_ == InputPlace::kPageable) stream.synchronize();
}

}  // namespace tandem
