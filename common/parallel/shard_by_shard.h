// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/model/model.h"
#include "common/model/tensor_values.h"
#include "common/optim/optimizer.h"
#include "common/parallel/interpreters.h"
#include "common/parallel/replica.h"
#include "common/parallel/shards.h"
#include "common/parallel/strategy.h"
#include "common/runtime/platform.h"

namespace tandem {

// One device that takes the shards of a batch in turn, each with the weights at the beginning of
// the step, and averages the shards' gradients by samples: the result of strategies where samples
// of a shard depend on one another, as in batch normalisation. A reference, not to be timed: it has
// no phases, waits within the step, and a dispatch costs nothing.
class ShardByShard final : public Strategy {
 public:
  // `shards`: pieces of the global batch, at least one. All arguments must outlive this object.
  ShardByShard(Platform& platform, Device& device, const Model& model,
               const std::vector<Shard>& shards, const TrainingOptions& options);
  ~ShardByShard() override;

  void step() override;
  void synchronize() override {}
  [[nodiscard]] TensorList weights() override;
  [[nodiscard]] TensorList gradients() override { return sum_.tensors; }
  [[nodiscard]] std::vector<DeviceTimes> collect_phases() override { return {}; }
  [[nodiscard]] std::int64_t dispatches() const override { return 0; }

  // The first shard's buffers and plain attributes.
  [[nodiscard]] const ModuleState& module();

  // The next step begins with these weights, per segment; the optimizer keeps its state.
  void load(const TensorValues& weights);

 private:
  struct ShardWork;
  [[nodiscard]] ShardWork& first() { return *shards_.front(); }
  void add(ShardWork& shard);

  const float batch_;  // samples
  Interpreter interpreter_;
  const Arena sum_;
  const std::unique_ptr<Optimizer> optimizer_;
  std::vector<std::unique_ptr<ShardWork>> shards_;  // last: the shards use all members above
};

}  // namespace tandem
