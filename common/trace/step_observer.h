// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/runtime/device.h"
#include "common/trace/phase.h"

namespace tandem {

// A piece of work within a phase, as it is enqueued.
struct EnqueuedWork {
  enum class Kind {
    kOperation,   // of a model, a loss or an optimizer
    kCopy,        // of a strategy's, or a row of them
    kCollective,  // of a bucket of gradients
    kInLine,      // a collective on the stream of compute, of no bucket
  };

  Kind kind = Kind::kOperation;
  std::string_view name{};   // of what is done: "linear_forward"
  std::string_view layer{};  // whose parameters an operation uses or makes gradients of, if any's
  std::size_t index = 0;     // of a bucket's collective: among its step's
  Bytes size{};              // of what copies or a collective move
  int copies = 1;            // in a row
};

// Is told of the work within phases, as it is enqueued: what a profiler or a timeline shows. Calls
// for different devices may come at once; those for one device one after the other, but for
// collectives, which another thread than the step's may tell of.
class WorkObserver {
 public:
  WorkObserver() = default;
  WorkObserver(const WorkObserver&) = delete;
  WorkObserver& operator=(const WorkObserver&) = delete;
  virtual ~WorkObserver() = default;

  // Here on `stream` it begins, and ends. On one stream they do not overlap, but that operations
  // and copies may be a collective's.
  virtual void work_begins(Device& device, Stream& stream, const EnqueuedWork& work) = 0;
  virtual void work_ends(Device& device, Stream& stream, const EnqueuedWork& work) = 0;

  // Of the step's collective `index`: from here on `stream`, of compute, all that it combines is
  // there; and all that it makes.
  virtual void bucket_ready(Device& /*device*/, Stream& /*stream*/, std::size_t /*index*/) {}
  virtual void bucket_back(Device& /*device*/, Stream& /*stream*/, std::size_t /*index*/) {}

  // Where it is decided late what a collective combines: from here on `stream`, of compute, `part`
  // is there, a number of the step's; and later in place of bucket_ready(), perhaps from another
  // thread, what parts collective `index` is of.
  virtual void part_ready(Device& /*device*/, Stream& /*stream*/, int /*part*/) {}
  virtual void bucket_filled(Device& /*device*/, std::size_t /*index*/,
                             const std::vector<int>& /*parts*/) {}
};

// Is told how far a device's step has been enqueued, on the thread that enqueues it: what a flight
// recorder, a check or a planted fault needs to know. Calls for different devices may come at once;
// those for one device come one after the other. What it enqueues on `stream` happens there at that
// point of the step; what it throws ends the step. Outlives the strategy.
class StepObserver {
 public:
  StepObserver() = default;
  StepObserver(const StepObserver&) = delete;
  StepObserver& operator=(const StepObserver&) = delete;
  virtual ~StepObserver() = default;

  // All that `device` does from here on belongs to `phase`.
  virtual void phase_begins(Device& device, Stream& stream, Phase phase) = 0;

  // All of the device's step is enqueued.
  virtual void step_ends(Device& device, Stream& stream) = 0;

  // The device's step will not be ended: something in it failed, `stream` perhaps.
  virtual void step_abandoned(Device& /*device*/, Stream& /*stream*/) {}

  // All work that makes this gradient is enqueued; it is not yet combined with that of others.
  virtual void gradient_ready(Device& device, Stream& stream, int segment, Span<float> gradient) {
    static_cast<void>(device);
    static_cast<void>(stream);
    static_cast<void>(segment);
    static_cast<void>(gradient);
  }

  // The device's step is enqueued as the replay of a captured one, all of it at once.
  virtual void replay_begins(Device& /*device*/, Stream& /*stream*/) {}

  // Who is to be told of the work within phases, which costs calls per operation; null: nobody.
  // Always the same.
  [[nodiscard]] virtual WorkObserver* work_observer() { return nullptr; }
};

// Those of `observers` that there are.
[[nodiscard]] inline std::vector<WorkObserver*> work_observers_of(
    const std::vector<StepObserver*>& observers) {
  std::vector<WorkObserver*> found;
  for (StepObserver* const observer : observers) {
    if (WorkObserver* const work = observer->work_observer()) found.push_back(work);
  }
  return found;
}

// Around what is enqueued: tells observers that it begins, and however it goes that it ends.
template <class Enqueue>
void enqueue_observed(const std::vector<WorkObserver*>& observers, Device& device, Stream& stream,
                      const EnqueuedWork& work, const Enqueue& enqueue) {
  const auto tell_of_end = [&] {
    for (WorkObserver* const observer : observers) observer->work_ends(device, stream, work);
  };
  for (WorkObserver* const observer : observers) observer->work_begins(device, stream, work);
  try {
    enqueue();
  } catch (...) {
    tell_of_end();
    throw;
  }
  tell_of_end();
}

}  // namespace tandem
