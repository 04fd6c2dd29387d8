// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "common/trace/step_observer.h"

namespace tandem {

// A step observer that is also told of the work within phases, and to which the replay of a
// captured step is one phase, "replay". As thread-safe as StepObserver and WorkObserver require.
class DetailObserver : public StepObserver, protected WorkObserver {
 public:
  void phase_begins(Device& device, Stream& stream, Phase phase) final {
    part_begins(device, stream, name_of(phase));
  }
  void replay_begins(Device& device, Stream& stream) final {
    part_begins(device, stream, "replay");
  }
  [[nodiscard]] WorkObserver* work_observer() final { return this; }

 protected:
  // All work that `device` does from here on belongs to the phase of this name.
  virtual void part_begins(Device& device, Stream& stream, std::string_view phase) = 0;
};

}  // namespace tandem
