// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "common/runtime/device.h"
#include "common/trace/phase.h"

namespace tandem {

// One operation of a model, a loss or an optimizer, as it is enqueued.
struct EnqueuedOperation {
  std::string_view name;   // of what is done: "linear_forward"
  std::string_view layer;  // whose parameters it uses or makes gradients of; empty: none's
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

  // All work that makes this gradient is enqueued; it is not yet combined with that of others.
  virtual void gradient_ready(Device& device, Stream& stream, int segment, Span<float> gradient) {
    static_cast<void>(device);
    static_cast<void>(stream);
    static_cast<void>(segment);
    static_cast<void>(gradient);
  }

  // The device's step is enqueued as the replay of a captured one, all of it at once.
  virtual void replay_begins(Device& /*device*/, Stream& /*stream*/) {}

  // Of the step's collective of gradients `index`, which of another thread than the step's may tell
  // as well: from here on `stream`, of compute, all that it combines is there; here on `stream`, of
  // communication, it begins and ends.
  virtual void bucket_ready(Device& /*device*/, Stream& /*stream*/, std::size_t /*index*/) {}
  virtual void collective_begins(Device& /*device*/, Stream& /*stream*/, std::size_t /*index*/) {}
  virtual void collective_ends(Device& /*device*/, Stream& /*stream*/, std::size_t /*index*/) {}

  // Around each operation of a replica, where that is wanted: it costs a call per operation.
  [[nodiscard]] virtual bool wants_operations() const { return false; }
  virtual void operation_begins(Device& /*device*/, Stream& /*stream*/,
                                const EnqueuedOperation& /*operation*/) {}
  virtual void operation_ends(Device& /*device*/, Stream& /*stream*/) {}
};

}  // namespace tandem
