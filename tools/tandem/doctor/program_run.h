// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/tandem/doctor/finding.h"
#include "tools/tandem/interrupts.h"

namespace tandem::doctor {

// How a program ended that was run to see whether it works.
struct ProgramRun {
  enum class End { kDone, kFailed, kTimedOut, kNotStarted, kInterrupted };
  End end = End::kNotStarted;
  std::string reason{};       // of a failure, one line that the program or its launcher said
  std::string stderr_text{};  // its last 64 KiB
  double seconds = 0;

  [[nodiscard]] bool is_done() const { return end == End::kDone; }
};

// Runs Tandem's bench programs, in the environment that sweeps give them, one at a time. What they
// write goes to a folder of its own, which is removed in the end.
class Programs {
 public:
  // `folder` is where they lie. Throws a failure where no temporary folder can be made.
  Programs(std::filesystem::path folder, const cli::Interrupts& interrupts);
  ~Programs();
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  // One process.
  [[nodiscard]] ProgramRun run(const std::string& program,
                               const std::vector<std::string>& arguments) const;

  // `ranks` processes of this node under mpirun.
  [[nodiscard]] ProgramRun run_ranks(int ranks, const std::string& program,
                                     const std::vector<std::string>& arguments) const;

  // A path in that folder.
  [[nodiscard]] std::filesystem::path file(const std::string& name) const {
    return scratch_ / name;
  }

 private:
  [[nodiscard]] ProgramRun run_command(std::vector<std::string> command) const;

  const std::filesystem::path folder_;
  const cli::Interrupts& interrupts_;
  std::filesystem::path scratch_;
};

// The finding of a run that had to work: `done` where it did, with the seconds it took; else a
// problem that holds what was said.
[[nodiscard]] Finding judge_run(const ProgramRun& run, const std::string& subject,
                                const std::string& done, const std::string& advice);

}  // namespace tandem::doctor
