// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/job/job.h"
#include "common/base/error.h"
#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/comm/rank_exit.h"
#include "common/trace/step_observer.h"

namespace tandem::bench {

// The parts of a launch in which there is no step.
enum class Stage {
  kStart,   // the process starts, before meeting the other processes
  kJoin,    // the process knows its rank
  kMeet,    // the rank waits for all other ranks, to compare options
  kOpen,    // devices and communicators are opened
  kBuild,   // the strategy is built
  kReport,  // after the last step
};

// The flight recorders of this process: one for the rank that the process is, or one per device
// where the devices are ranks that are threads. A step's phases are noted twice: as the host
// enqueues a phase, and on host streams as the device comes to the phase. A phase costs a few
// stores and a small task; see the recorder. Without a folder nothing is recorded, and nothing
// costs.
class FlightLog final : public StepObserver {
 public:
  // The ranks that this process speaks for, in a world of `world` ranks: [first, first + count).
  struct Ranks {
    int first = 0;
    int count = 1;
    int world = 1;
  };
  // Throws a usage error where no file can be made in `folder`; an empty `folder` keeps no log.
  FlightLog(const std::filesystem::path& folder, const Ranks& ranks);
  ~FlightLog() override;

  [[nodiscard]] bool is_kept() const { return !devices_.empty(); }

  void enter(Stage stage) noexcept;
  void failed(const Error& error) noexcept;
  // The rank exit that keeps a rank's last words in this log. The log outlives the rank exit.
  [[nodiscard]] RankExit rank_exit(Nanoseconds grace);
  void ended() noexcept;

  // The observer of a rank's communicator, by the rank's place in this process; null where no log
  // is kept.
  [[nodiscard]] CollectiveObserver* collectives_of(int index);

  void phase_begins(Device& device, Stream& stream, Phase phase) override;
  void step_ends(Device& device, Stream& stream) override;

 private:
  class PerDevice;
  [[nodiscard]] PerDevice& of(const Device& device);

  std::vector<std::unique_ptr<PerDevice>> devices_;
};

// Runs `body` as the job is launched, with a flight recorder in `folder` for each rank; an empty
// folder keeps none. In a job of processes this is run_ranks_main(), with the recorder from before
// MPI starts until MPI has ended; in a job of threads this process alone holds all ranks.
[[nodiscard]] int run_recorded(const std::string& program, const JobOptions& job,
                               const std::string& folder, int& argc, char**& argv,
                               const std::function<int(Bootstrap&, FlightLog&)>& body);

}  // namespace tandem::bench
