// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "common/base/error.h"
#include "common/comm/collective_observer.h"
#include "common/comm/farewell.h"
#include "common/trace/step_observer.h"

namespace tandem::bench {

// The parts of a launch in which there is no step.
enum class Stage {
  kStart,   // of the process, before it has met the others
  kJoin,    // knows its rank
  kMeet,    // waits for all others, to compare what they were told
  kOpen,    // of devices and communicators
  kBuild,   // of the strategy
  kReport,  // after the last step
};

// The flight recorders of this process: one for the rank that it is, or one per device where its
// devices are ranks that are threads. A step's phases are noted twice: as they are enqueued, and on
// host streams as the device comes to them. A few stores and a small task per phase; see the
// recorder. Without a folder nothing is kept, and nothing costs.
class FlightLog final : public StepObserver {
 public:
  // The ranks that this process speaks for, of a world: [first, first + count).
  struct Ranks {
    int first = 0;
    int count = 1;
    int world = 1;
  };
  // Throws a usage error where no file can be made in `folder`; empty: none are kept.
  FlightLog(const std::filesystem::path& folder, const Ranks& ranks);
  ~FlightLog() override;

  [[nodiscard]] bool is_kept() const { return !devices_.empty(); }

  void enter(Stage stage) noexcept;
  void failed(const Error& error) noexcept;
  // Keeps a rank's last words here. This outlives who has it.
  [[nodiscard]] Farewell farewell(Nanoseconds grace);
  void ended() noexcept;

  // Of a rank's communicator, by its place among those of this process; null where none are kept.
  [[nodiscard]] CollectiveObserver* collectives_of(int index);

  void phase_begins(Device& device, Stream& stream, Phase phase) override;
  void step_ends(Device& device, Stream& stream) override;

 private:
  class PerDevice;
  [[nodiscard]] PerDevice& of(const Device& device);

  std::vector<std::unique_ptr<PerDevice>> devices_;
};

}  // namespace tandem::bench
