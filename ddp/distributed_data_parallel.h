// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/parallel/shards.h"
#include "common/parallel/strategy.h"
#include "ddp/all_reduce_rank.h"

namespace tandem::ddp {

// torch's DistributedDataParallel: a rank per device, weights sent once, gradients averaged in
// buckets while backward runs. The algorithm and its diagram stand at the head of the .cc file.
class DistributedDataParallel final : public Strategy {
 public:
  // One rank. Throws a usage error where the ranks do not divide the global batch.
  // Collective over `communicator`, which outlives the strategy.
  DistributedDataParallel(Platform& platform, Device& device, const Model& model,
                          Communicator& communicator, const TrainingOptions& options,
                          const ReducerOptions& reducer);

  void step() override;

  void synchronize() override { rank_.synchronize(); }
  [[nodiscard]] TensorList weights() override { return rank_.replica().parameters().tensors; }
  [[nodiscard]] TensorList gradients() override { return rank_.gradients(); }
  [[nodiscard]] std::vector<DeviceTimes> collect_phases() override {
    return {rank_.replica().collect_times()};
  }
  [[nodiscard]] std::map<std::string, std::string> resolved_options() const override {
    return rank_.implementations();
  }
  [[nodiscard]] std::vector<DeviceCollectives> collect_collectives() override {
    return {rank_.collect_collectives()};
  }
  [[nodiscard]] std::int64_t dispatches() const override { return interpreter_.calls(); }
  [[nodiscard]] std::vector<Bytes> bucket_sizes() const override { return rank_.bucket_sizes(); }

  // The buffers and plain attributes of the rank's module.
  [[nodiscard]] const ModuleState& module() { return rank_.replica().state(); }

 private:
  Interpreter interpreter_;
  const Shard share_;
  LocalBatch batch_;
  AllReduceRank rank_;  // declared after the memory that its streams use
};

}  // namespace tandem::ddp
