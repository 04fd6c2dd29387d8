// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/optim/optimizer.h"
#include "common/parallel/micro_batches.h"
#include "common/parallel/replica.h"
#include "common/parallel/shards.h"
#include "common/parallel/strategy.h"

namespace tandem {

// One device, no wrapper: the baseline of every speed-up. With a share of the global batch a Single
// is also one rank of `independent`, which is N such ranks without any communication.
class Single final : public Strategy {
 public:
  // Trains on `share` of the global batch, on `device`. `shared`: the interpreter of the thread
  // that calls step(), which others may use too and which outlives this object; null: one of its
  // own. Throws a usage error where the micro-batches do not divide the share.
  Single(Platform& platform, Device& device, const Model& model, Shard share,
         const TrainingOptions& options, int micro_batches = 1, Interpreter* shared = nullptr);

  void step() override;
  void synchronize() override { replica_.stream().synchronize(); }
  [[nodiscard]] TensorList weights() override { return replica_.parameters().tensors; }
  [[nodiscard]] TensorList gradients() override { return gradients_.tensors; }
  [[nodiscard]] std::vector<DeviceTimes> collect_phases() override {
    return {replica_.collect_times()};
  }
  [[nodiscard]] std::map<std::string, std::string> resolved_options() const override {
    return replica_.implementations();
  }
  [[nodiscard]] std::int64_t dispatches() const override { return interpreter_.calls(); }

  // The module's buffers and plain attributes.
  [[nodiscard]] const ModuleState& module() { return replica_.state(); }

 private:
  Interpreter own_interpreter_;
  Interpreter& interpreter_;
  const int parameters_;
  LocalBatch batch_;
  const std::unique_ptr<Buffer> loss_;
  const Arena gradients_;
  const std::unique_ptr<Optimizer> optimizer_;
  Replica replica_;  // its stream ends before the members above are destroyed
  MicroBatches micro_batches_;
};

}  // namespace tandem
