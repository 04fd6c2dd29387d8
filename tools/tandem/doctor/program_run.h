// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tools/tandem/doctor/finding.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/process/child_process.h"

namespace tandem::doctor {

// A program that the doctor ran to see whether the program works.
struct ProgramRun {
  cli::ChildResult result{};
  std::string reason{};  // the failure in one line, by the program or its launcher

  [[nodiscard]] bool is_done() const { return result.has_exited(0); }
};

// Runs Tandem's bench programs, in the environment that sweeps give them, one at a time. Their
// output goes to a temporary folder.
class Programs {
 public:
  // `folder` holds the programs. Throws a failure where no temporary folder can be made.
  Programs(std::filesystem::path folder, const cli::Interrupts& interrupts)
      : folder_(std::move(folder)), interrupts_(interrupts) {}

  // Runs the program behind the launcher's words; without words in one process.
  [[nodiscard]] ProgramRun run(const std::string& program,
                               const std::vector<std::string>& arguments,
                               std::vector<std::string> launcher = {}) const;

  // A path in the temporary folder.
  [[nodiscard]] std::filesystem::path file(const std::string& name) const {
    return scratch_.path() / name;
  }

 private:
  const std::filesystem::path folder_;
  const cli::Interrupts& interrupts_;
  const cli::TemporaryFolder scratch_;
};

// The finding about a run that had to work: `done` with the run's seconds, or else a problem with
// the reason of the failure.
[[nodiscard]] Finding judge_run(const ProgramRun& run, const std::string& subject,
                                const std::string& done, const std::string& advice);

// Runs of two ranks on this node's cores, which check every element of an all-reduce.
struct RankRuns {
  ProgramRun over_mpi{};
  ProgramRun over_shared_memory{};
};

[[nodiscard]] RankRuns run_ranks(const Programs& programs);

// The finding about a run of ranks. Isolated ranks and a missing launcher have findings of their
// own, apart from other failures.
[[nodiscard]] Finding judge_launch(const ProgramRun& run, const std::string& subject,
                                   const std::string& done);

[[nodiscard]] Findings judge_ranks(const RankRuns& runs);

// All-reduces over NCCL between all GPUs, each element checked.
struct NcclRuns {
  int devices = 0;
  ProgramRun threads{};    // all GPUs in one process
  ProgramRun processes{};  // a process per GPU, under mpirun
};

// Runs nothing where there are fewer than two GPUs: a world of one has no collective.
[[nodiscard]] NcclRuns run_nccl(const Programs& programs, int devices);

[[nodiscard]] Findings judge_nccl(const NcclRuns& runs);

}  // namespace tandem::doctor
