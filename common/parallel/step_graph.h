// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/parallel/interpreters.h"
#include "common/parallel/replica.h"
#include "common/parallel/training_options.h"
#include "common/runtime/stream_graph.h"

namespace tandem {

// Usage errors for what a replayed step cannot have: all that the host decides or does within a
// step. Nothing without StepReplay::kOn.
void check_replayable(const TrainingOptions& training);

// The usage error of `what` that a replayed step cannot have, where `condition` holds.
void refuse_replay(bool condition, const std::string& what, const std::string& why);

// The steps of one device's rank, where they are wanted as a CUDA graph: the first two are enqueued
// as they are (ddp's first iteration, its buckets made anew, what libraries choose at a first
// call), the third is captured, and from it on each step is a replay: one call of the host's.
//
//   step 1   step 2   step 3: capture, replay   step 4: replay   ...
class StepGraph {
 public:
  static constexpr int kCapturedStep = 3;

  // `observers` keep account of what a step enqueues, beside the replica's timer; they, replica and
  // interpreter outlive this. With replay, a usage error where the replica's device has no graphs,
  // or where one of `observers` is null: its collectives cannot be captured.
  StepGraph(StepReplay replay, Replica& replica, Interpreter& interpreter,
            std::vector<CaptureObserver*> observers = {});
  ~StepGraph();
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  // Enqueues a step: by `enqueue`, the same one in each call, or as a replay. It begins and ends on
  // the replica's stream. PyTorch would dispatch one call for a replay.
  void step(const std::function<void()>& enqueue);

 private:
  void check() const;
  void capture(const std::function<void()>& enqueue);
  void replay();

  const StepReplay replay_;
  Replica& replica_;
  Interpreter& interpreter_;
  std::vector<CaptureObserver*> observers_;
  int steps_ = 0;  // that were enqueued as they are
  std::unique_ptr<StreamGraph> graph_;
};

}  // namespace tandem
