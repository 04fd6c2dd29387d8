// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "common/comm/communicator.h"
#include "common/trace/step_observer.h"

namespace tandem::bench {

enum class FaultKind {
  kKilled,    // SIGKILL to itself
  kStopped,   // SIGSTOP to itself
  kThrows,    // throws an error of its own
  kMemory,    // asks for more memory than is left, alone
  kDiverges,  // calls a collective that the others do not
  kLate,      // sleeps through the deadline before meeting the other ranks
};

// A fault that is planted on purpose, like a planted delay, to see that a job with the fault ends
// as it should; never a default.
struct Fault {
  FaultKind kind = FaultKind::kThrows;
  int rank = 0;
  std::int64_t step = 5;  // from 1, as a rank counts its own steps; a late rank ignores the step
};

// "killed", "killed:1", "killed@7" or "killed:1@7"; by default the last rank of `ranks` and step 5.
// Throws a usage error that names the flag --fault.
[[nodiscard]] Fault parse_fault(const std::string& text, int ranks);

// Lets a rank of this process meet its fault when the rank enqueues backward of the fault's step; a
// diverging rank meets its fault before that step's forward, a late rank in come_late().
class PlantedFault final : public StepObserver {
 public:
  // `rank`: this process's rank; none where each device is a rank that is a thread.
  PlantedFault(const Fault& fault, std::optional<int> rank) : fault_(fault), rank_(rank) {}

  // Gives a diverging rank the communicator for its extra collective; called by the rank's thread
  // once the communicator is made.
  void meet(int rank, Communicator& communicator);

  // Sleeps for many deadlines where this process holds the rank that is late.
  void come_late(Nanoseconds deadline) const;

  // Throws a failure where the fault was planted in this process and never came.
  void check_met() const;

  void phase_begins(Device& device, Stream& stream, Phase phase) override;
  void step_ends(Device& device, Stream& stream) override;

 private:
  [[nodiscard]] bool is_due(const Device& device) const;
  [[noreturn]] void ask_for_too_much(Device& device) const;
  void diverge(Device& device, Stream& stream);

  const Fault fault_;
  const std::optional<int> rank_;
  std::int64_t steps_ = 0;  // steps that the rank has ended
  std::atomic<bool> met_{false};
  std::atomic<Communicator*> communicator_{nullptr};
  std::unique_ptr<Buffer> own_;  // a diverging rank's send buffer
};

}  // namespace tandem::bench
