// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/runtime/device.h"
#include "common/trace/phase.h"

namespace tandem {

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
};

}  // namespace tandem
