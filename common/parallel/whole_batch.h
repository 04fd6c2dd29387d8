// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/parallel/batch_shape.h"
#include "common/parallel/training_options.h"

namespace tandem {

// The global batch as the training loop hands it to the wrapper, in the place where a step finds
// the batch: host memory, or devices - the inputs on the root's, the targets on the outputs'
// device.
class WholeBatch {
 public:
  WholeBatch(Platform& platform, const Model& model, const TrainingOptions& options, Device& root,
             Device& output_device);

  [[nodiscard]] Span<const float> inputs() const;   // (global batch, input_width)
  [[nodiscard]] Span<const float> targets() const;  // (global batch, target_width)

 private:
  const SyntheticBatch host_;
  std::unique_ptr<Buffer> inputs_;   // on the root; null: the inputs start on the host
  std::unique_ptr<Buffer> targets_;  // on the output device; null: the targets start on the host
};

}  // namespace tandem
