// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/step_graph.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/error.h"

namespace tandem {

namespace {

// Throws the usage error that a replayed step cannot have `what`, where `condition` holds.
void refuse_replay(bool condition, const std::string& what, const std::string& why) {
  if (condition) fail(ErrorKind::kUsage, "--cuda-graph=on cannot replay {}: {}", what, why);
}

}  // namespace

void check_replayable(const TrainingOptions& training) {
  if (training.replay == StepReplay::kOff) return;
  refuse_replay(training.input == InputPlace::kPageable, "--input=pageable",
                "the host waits for copies from pageable memory; use host or device");
  refuse_replay(training.interpreter.costs.any(), "--dispatch-cost",
                "the calls that it charges are not made in a replay; leave it out");
}

StepGraph::StepGraph(StepReplay replay, Replica& replica, Interpreter& interpreter,
                     std::vector<CaptureObserver*> observers)
    : replay_(replay),
      replica_(replica),
      interpreter_(interpreter),
      observers_(std::move(observers)) {
  observers_.push_back(&replica.timer());
  if (replay == StepReplay::kOn) check();
}

void StepGraph::check() const {
  const Backend backend = replica_.device().id().backend;
  if (backend == Backend::kHost) {
    fail(ErrorKind::kUsage, "--cuda-graph=on needs the CUDA back end, and this is {}: leave it out",
         to_string(backend));
  }
  refuse_replay(std::ranges::find(observers_, nullptr) != observers_.end(),
                "collectives that go through the host",
                "its part would be left out; give each rank a GPU of its own");
}

// Waits, since a replay may be in flight.
StepGraph::~StepGraph() {
  if (graph_) static_cast<void>(capture_error([this] { replica_.stream().synchronize(); }));
}

void StepGraph::step(const std::function<void()>& enqueue) {
  if (replay_ == StepReplay::kOff) return enqueue();
  if (!graph_ && ++steps_ < kCapturedStep) return enqueue();
  if (!graph_) capture(enqueue);
  replay();
}

void StepGraph::capture(const std::function<void()>& enqueue) {
  refuse_replay(!replica_.state().attributes.empty(), "a model that writes attributes in forward",
                "they are the host's; use another model");
  for (CaptureObserver* const observer : observers_) observer->capture_begins();
  const auto error = capture_error([&] { graph_ = replica_.stream().capture(enqueue); });
  for (CaptureObserver* const observer : observers_) observer->capture_ends();
  if (error) throw Error(*error);
}

void StepGraph::replay() {
  Stream& stream = replica_.stream();
  for (CaptureObserver* const observer : observers_) observer->replay_begins(stream);
  dispatch(interpreter_, stream, DispatchKind::kCall);
  graph_->replay(stream);
  for (CaptureObserver* const observer : observers_) observer->replay_ends(stream);
}

}  // namespace tandem
