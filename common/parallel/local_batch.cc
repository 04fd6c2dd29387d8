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
  copy_in(*stream);
  stream->synchronize();
}

void LocalBatch::copy_in(Stream& stream) {
  enqueue_copy(stream, inputs_->as<float>(), host_.inputs());
  enqueue_copy(stream, targets_->as<float>(), host_.targets());
}

void LocalBatch::load(Stream& stream, Interpreter& interpreter) {
  if (place_ == InputPlace::kDevice) return;
  dispatch(interpreter, stream, 2);
  copy_in(stream);
  if (place_ == InputPlace::kPageable) stream.synchronize();
}

}  // namespace tandem
