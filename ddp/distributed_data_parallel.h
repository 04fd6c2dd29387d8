// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/parallel/all_reduce_rank.h"
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
  void synchronize() override { rank_.synchronize(); }
  [[nodiscard]] TensorList weights() override { return rank_.replica().parameters().tensors; }
  [[nodiscard]] TensorList gradients() override { return rank_.gradients(); }
  [[nodiscard]] std::vector<DeviceTimes> collect_phases() override;
  [[nodiscard]] std::int64_t dispatches() const override { return interpreter_.calls(); }
  [[nodiscard]] std::vector<Bytes> bucket_sizes() const override { return rank_.bucket_sizes(); }

  // Its buffers and plain attributes.
  [[nodiscard]] const ModuleState& module() { return rank_.replica().state(); }

 private:
  Interpreter interpreter_;
  LocalBatch batch_;
  AllReduceRank rank_;  // last: its streams end before what they work on goes
};

}  // namespace tandem::ddp
