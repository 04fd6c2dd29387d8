// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/optim/make_optimizer.h"
#include "common/parallel/local_batch.h"
#include "common/parallel/strategy.h"

namespace tandem {

// One device, no wrapper: the baseline of every speed-up. With a share of the global batch it is
// also one rank of `independent`, which is N of these without any communication.
class Single final : public Strategy {
 public:
  // Trains on `share` of the global batch, on `device`.
  Single(Platform& platform, Device& device, const Model& model, Piece share,
         const TrainingOptions& options);

  void step() override;
  void synchronize() override;
  [[nodiscard]] TensorList weights() override { return replica_.parameters().tensors; }
  [[nodiscard]] TensorList gradients() override { return gradients_.tensors; }
  [[nodiscard]] std::vector<DeviceTimes> collect_phases() override;

 private:
  LocalBatch batch_;
  const Arena gradients_;
  const std::unique_ptr<Optimizer> optimizer_;
  Replica replica_;  // last: its stream ends before what it works on goes
};

}  // namespace tandem
