// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/whole_batch.h"

#include "common/runtime/copy.h"

namespace tandem {
namespace {

std::unique_ptr<Buffer> copied_to(Device& device, Span<const float> values) {
  auto buffer = device.allocate(values.bytes());
  const auto stream = device.make_stream(StreamPriority::kNormal);
  enqueue_copy(*stream, buffer->as<float>(), values);
  stream->synchronize();
  return buffer;
}

}  // namespace

WholeBatch::WholeBatch(Platform& platform, const Model& model, const TrainingOptions& options,
                       Device& root, Device& output_device)
    : host_(platform, batch_shape(model, {0, options.global_batch}, options.input_lengths),
            options.seed, options.distribution, host_memory_of(options.input)) {
  if (options.input != InputPlace::kDevice) return;
  inputs_ = copied_to(root, host_.inputs());
  targets_ = copied_to(output_device, host_.targets());
}

Span<const float> WholeBatch::inputs() const {
  return inputs_ ? Span<const float>(inputs_->as<float>()) : host_.inputs();
}

Span<const float> WholeBatch::targets() const {
  return targets_ ? Span<const float>(targets_->as<float>()) : host_.targets();
}

}  // namespace tandem
