// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/data/synthetic_batch.h"
#include "common/model/model.h"
#include "common/parallel/chunk_rule.h"
#include "common/parallel/replica.h"
#include "common/parallel/training_options.h"

namespace tandem {

// A rank's own share of the global batch: where it lies on the device, and the loss on it. (What a
// DataParallel root holds is the whole batch, with nobody's share.)
class LocalBatch {
 public:
  // `share` of the global batch, of each sample what the model wants.
  LocalBatch(Platform& platform, Device& device, const Model& model, Piece share,
             const TrainingOptions& options);

  // Enqueues the copy from host memory; nothing where the batch starts on the device.
  void load(Stream& stream);

  // Enqueues the mean squared error of the replica's output and its gradient.
  void compute_loss(Replica& replica);

  [[nodiscard]] std::int64_t count() const { return host_.count(); }
  [[nodiscard]] Span<const float> inputs() const { return inputs_->as<float>(); }

 private:
  void copy_in(Stream& stream);

  const InputPlace place_;
  const SyntheticBatch host_;
  const std::unique_ptr<Buffer> inputs_;
  const std::unique_ptr<Buffer> targets_;
  const std::unique_ptr<Buffer> loss_;
};

}  // namespace tandem
