// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <cstddef>
#include <string_view>
#include <vector>

#include "common/base/phases.h"
#include "common/runtime/device.h"

namespace tandem {

// A piece of work within a phase, as it is enqueued.
struct EnqueuedWork {
  enum class Kind {
    kOperation,   // an operation of a model, a loss or an optimizer
    kCopy,        // a strategy's copy, or a row of copies
    kCollective,  // the collective of a bucket of gradients
    kInLine,      // a collective of no bucket on the compute stream
  };

  Kind kind = Kind::kOperation;
  std::string_view name{};   // name of the work: "linear_forward"
  std::string_view layer{};  // layer whose parameters or gradients an operation uses; may be empty
  std::size_t index = 0;     // a bucket's collective: its index within the step
  Bytes size{};              // bytes that copies or a collective move
  int copies = 1;            // number of copies in a row
};

// Observes the work within phases as the work is enqueued, which a profiler or a timeline shows.
// Calls for different devices may come at once; calls for one device come one after the other,
// except calls about collectives, which may come from another thread than the step's.
class WorkObserver : boost::noncopyable {
 public:
  virtual ~WorkObserver() = default;

  // The work begins here on `stream`, or ends here. Work on one stream does not overlap, but a
  // collective may contain operations and copies.
  virtual void work_begins(Device& device, Stream& stream, const EnqueuedWork& work) = 0;
  virtual void work_ends(Device& device, Stream& stream, const EnqueuedWork& work) = 0;

  // From here on `stream`, a compute stream, all gradients that collective `index` of the step
  // combines are there (ready), or all results of the collective are there (back).
  virtual void bucket_ready(Device& /*device*/, Stream& /*stream*/, std::size_t /*index*/) {}
  virtual void bucket_back(Device& /*device*/, Stream& /*stream*/, std::size_t /*index*/) {}
};

// Observes how far a device's step has been enqueued, on the thread that enqueues the step, for a
// flight recorder, a check or a planted fault. Calls for different devices may come at once; calls
// for one device come one after the other. Work that an observer enqueues on `stream` happens at
// this point of the step; an exception of an observer ends the step. Outlives the strategy.
class StepObserver : boost::noncopyable {
 public:
  virtual ~StepObserver() = default;

  // All work that `device` does from here on belongs to `phase`.
  virtual void phase_begins(Device& device, Stream& stream, Phase phase) = 0;

  // All work of the device's step is enqueued.
  virtual void step_ends(Device& device, Stream& stream) = 0;

  // The device's step will not be ended, since something in the step failed, perhaps `stream`.
  virtual void step_abandoned(Device& /*device*/, Stream& /*stream*/) {}

  // The observer of the work within phases, which costs calls per operation; null where there is
  // none. Always returns the same.
  [[nodiscard]] virtual WorkObserver* work_observer() { return nullptr; }
};

// The non-null work observers of `observers`.
[[nodiscard]] inline std::vector<WorkObserver*> work_observers_of(
    const std::vector<StepObserver*>& observers) {
  std::vector<WorkObserver*> found;
  for (StepObserver* const observer : observers) {
    if (WorkObserver* const work = observer->work_observer()) found.push_back(work);
  }
  return found;
}

// Reports to observers that the enqueued work begins and, even after an exception, that the work
// ends.
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

// A step observer that also sees the work within phases. As thread-safe as StepObserver and
// WorkObserver require.
class DetailObserver : public StepObserver, protected WorkObserver {
 public:
  void phase_begins(Device& device, Stream& stream, Phase phase) final {
    part_begins(device, stream, name_of(phase));
  }
  [[nodiscard]] WorkObserver* work_observer() final { return this; }

 protected:
  // All work that `device` does from here on belongs to the phase of this name.
  virtual void part_begins(Device& device, Stream& stream, std::string_view phase) = 0;
};

}  // namespace tandem
