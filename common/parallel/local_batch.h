// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/parallel/batch_shape.h"
#include "common/parallel/replica.h"
#include "common/parallel/training_options.h"

namespace tandem {

// A rank's own share of the global batch, as the rank's loader brings the share, and the share's
// place on the device. (The root of a DataParallel holds the whole batch instead.)
class LocalBatch {
 public:
  // Takes `share` of the global batch, in each sample the elements that the model wants.
  LocalBatch(Platform& platform, Device& device, const Model& model, Piece share,
             const TrainingOptions& options);

  // Enqueues the copy from host memory to the replica's device, a call per tensor; nothing where
  // the batch starts on the device. From pageable memory load() returns once the copy is done.
  void load(Replica& replica, Interpreter& interpreter);

  [[nodiscard]] std::int64_t count() const { return host_.count(); }
  [[nodiscard]] Span<const float> inputs() const { return inputs_->as<float>(); }
  [[nodiscard]] Span<const float> targets() const { return targets_->as<float>(); }

 private:
  const InputPlace place_;
  const SyntheticBatch host_;
  const std::unique_ptr<Buffer> inputs_;
  const std::unique_ptr<Buffer> targets_;
};

}  // namespace tandem
