// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/optim/make_optimizer.h"
#include "common/parallel/local_batch.h"
#include "common/parallel/replica.h"
#include "common/parallel/step_graph.h"
#include "common/parallel/strategy.h"

namespace tandem {

// One device, no wrapper: the baseline of every speed-up. With a share of the global batch it is
// also one rank of `independent`, which is N of these without any communication.
class Single final : public Strategy {
 public:
  // Trains on `share` of the global batch, on `device`.
  Single(Platform& platform, Device& device, const Model& model, Piece share,
         const TrainingOptions& options);

  // The same on the interpreter of the thread that calls step(), which others may share. It
  // outlives this.
  Single(Platform& platform, Device& device, const Model& model, Piece share,
         const TrainingOptions& options, Interpreter& interpreter);

  void step() override;
  void synchronize() override;
  [[nodiscard]] TensorList weights() override { return replica_.parameters().tensors; }
  [[nodiscard]] TensorList gradients() override { return gradients_.tensors; }
  [[nodiscard]] std::vector<DeviceTimes> collect_phases() override;
  [[nodiscard]] std::map<std::string, std::string> settled_options() const override {
    return replica_.means();
  }
  [[nodiscard]] std::int64_t dispatches() const override { return interpreter_.calls(); }

  // Its buffers and plain attributes.
  [[nodiscard]] const ModuleState& module() { return replica_.state(); }

 private:
  void enqueue_step();

  Interpreter own_interpreter_;
  Interpreter& interpreter_;
  const int parameters_;
  LocalBatch batch_;
  const std::unique_ptr<Buffer> loss_;
  const Arena gradients_;
  const std::unique_ptr<Optimizer> optimizer_;
  Replica replica_;  // behind all that its stream works on: it ends before that goes
  StepGraph graph_;
};

}  // namespace tandem
