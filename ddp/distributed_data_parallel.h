// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/comm/communicator.h"
#include "common/optim/make_optimizer.h"
#include "common/parallel/bucket_reducer.h"
#include "common/parallel/local_batch.h"
#include "common/parallel/strategy.h"

namespace tandem::ddp {

// torch's DistributedDataParallel: a rank per device, weights sent once, gradients averaged in
// buckets while backward runs. The algorithm and its diagram stand at the head of the .cc file.
class DistributedDataParallel final : public Strategy {
 public:
  // One rank. Collective over `communicator`, which outlives this. Throws a usage error where the
  // ranks do not divide the global batch.
  DistributedDataParallel(Platform& platform, Device& device, const Model& model,
                          Communicator& communicator, const TrainingOptions& options,
                          const ReducerOptions& reducer);

  void step() override;
  void synchronize() override;
  [[nodiscard]] TensorList weights() override { return replica_.parameters().tensors; }
  [[nodiscard]] TensorList gradients() override { return reducer_.gradients(); }
  [[nodiscard]] std::vector<DeviceTimes> collect_phases() override;
  [[nodiscard]] std::vector<Bytes> bucket_sizes() const override { return reducer_.bucket_sizes(); }

 private:
  void update();

  // In this order: replica and reducer end their streams' work before what it works on goes.
  LocalBatch batch_;
  const std::unique_ptr<Optimizer> optimizer_;
  Replica replica_;
  BucketReducer reducer_;
};

}  // namespace tandem::ddp
