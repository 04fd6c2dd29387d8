// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/parallel/interpreters.h"
#include "common/parallel/replica.h"
#include "common/parallel/strategy.h"
#include "common/runtime/stream.h"

namespace tandem {

// Throws a usage error for options that a replayed step cannot have: decisions or actions of the
// host within a step. Does nothing without StepReplay::kOn.
void check_replayable(const TrainingOptions& training);

// The steps of one device's rank, where steps are wanted as a CUDA graph: the first two steps are
// enqueued as they are (ddp's first iteration, its buckets made anew, the libraries' choices at a
// first call), the third is captured, and from the third on each step is a replay: one call of the
// host's.
//
//   step 1   step 2   step 3: capture, replay   step 4: replay   ...
class StepGraph {
 public:
  static constexpr int kCapturedStep = 3;

  // `observers` keep account of the work that a step enqueues, beside the replica's timer;
  // observers, replica and interpreter must outlive this object. With replay, throws a usage error
  // where the replica's device has no graphs, or where one of `observers` is null: its collectives
  // cannot be captured.
  StepGraph(StepReplay replay, Replica& replica, Interpreter& interpreter,
            std::vector<CaptureObserver*> observers = {});
  ~StepGraph();
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  // Enqueues a step: by `enqueue`, the same function in each call, or as a replay. The step begins
  // and ends on the replica's stream. PyTorch would dispatch one call for a replay.
  void step(const std::function<void()>& enqueue);

 private:
  void check() const;
  void capture(const std::function<void()>& enqueue);
  void replay();

  const StepReplay replay_;
  Replica& replica_;
  Interpreter& interpreter_;
  std::vector<CaptureObserver*> observers_;
  int steps_ = 0;  // number of steps that were enqueued without a graph
  std::unique_ptr<StreamGraph> graph_;
};

}  // namespace tandem
