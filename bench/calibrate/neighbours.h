// SPDX-License-Identifier: Apache-2.0
//
// What other devices do while a calibration times the steps of one: the same steps, on their own or
// in step with that device.
#pragma once

#include <atomic>
#include <barrier>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "common/model/model.h"
#include "common/parallel/single.h"
#include "common/parallel/strategy.h"
#include "common/runtime/event_pair.h"
#include "common/runtime/host/stream_gate.h"
#include "common/runtime/platform.h"
#include "common/trace/step_observer.h"

namespace tandem::bench {

// Copies of as much memory as gradients take: what an exchange of gradients moves through the
// caches of a core.
class Exchange {
 public:
  Exchange(Device& device, const Model& model);

  void enqueue(Stream& stream);
  // The seconds of the last one, whose stream was synchronised.
  [[nodiscard]] double seconds() const { return Seconds(time_.time()).count(); }

 private:
  EventPair time_;
  const Bytes size_;
  const std::unique_ptr<Buffer> mine_;
  const std::unique_ptr<Buffer> received_;
};

// Holds up a step until all of its work is enqueued. A core whose worker has slept for long lets
// the worker take the core at each call, and a step that is enqueued so has hundreds of switches
// between two threads in its time. For host devices' steps, which this observes; one thread calls.
class HeldStart final : public StepObserver {
 public:
  // Holds the step that is enqueued next.
  void hold() { is_held_ = true; }
  // Calls `enqueue`, and lets the step begin, where it is held, also if `enqueue` throws: a closed
  // gate would keep its stream from ending.
  template <class Enqueue>
  void run(const Enqueue& enqueue) {
    const Opening opening{*this};
    enqueue();
  }

 private:
  struct Opening {
    HeldStart& start;
    ~Opening() { start.gate_.reset(); }
  };
  void phase_begins(Device& device, Stream& stream, Phase phase) override;
  void step_ends(Device& /*device*/, Stream& /*stream*/) override {}

  bool is_held_ = false;
  std::optional<host::StreamGate> gate_{};
};

// Steps of `single` on all devices of a platform but the first, until destroyed: again and again,
// or in step with the caller's device, which is the platform's first one's twin. Each device has a
// thread of its own; one thread calls.
class Neighbours {
 public:
  // Throws an error of kind kOutOfMemory where the model does not fit on the devices.
  Neighbours(Platform& platform, const Model& model, const TrainingOptions& options);
  ~Neighbours();
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  [[nodiscard]] int devices() const { return static_cast<int>(steps_.size()) + 1; }

  // From now on each step waits for the caller's, and the neighbours exchange between steps.
  void go_in_step() { is_in_step_ = true; }
  // The caller's step begins, with everybody's.
  void begin_step();
  // The caller's step is over. Returns the seconds of the slowest neighbour's, once all are over.
  [[nodiscard]] double end_step();

 private:
  void run(std::size_t neighbour);

  std::barrier<> meeting_;       // of the caller and all neighbours
  bool is_within_step_ = false;  // the caller
  std::atomic<bool> is_over_{false};
  std::atomic<bool> is_in_step_{false};
  std::vector<double> seconds_;                     // each neighbour's last step
  std::vector<std::unique_ptr<HeldStart>> starts_;  // outlive the steps, which observe them
  std::vector<std::unique_ptr<Single>> steps_;
  std::vector<std::unique_ptr<Exchange>> exchanges_;
  std::vector<std::unique_ptr<Stream>> streams_;  // of the exchanges
  std::vector<std::thread> threads_;
};

// Null where there is one device, or where the model does not fit on the neighbours.
[[nodiscard]] std::unique_ptr<Neighbours> start_neighbours(Platform* platform, const Model& model,
                                                           const TrainingOptions& options);

}  // namespace tandem::bench
