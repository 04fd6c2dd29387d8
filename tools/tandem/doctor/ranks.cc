// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/doctor/ranks.h"

namespace tandem::doctor {

RankRuns run_ranks(const Programs& programs) {
  std::vector<std::string> arguments{"--backend=host", "--devices=2", "--oversubscribe",
                                     "--sizes=64KiB",  "--samples=3", "--comm-timeout=30s",
                                     "--comm=mpi"};
  RankRuns runs;
  runs.over_mpi = programs.run_ranks(2, "collective_bench", arguments);
  if (!runs.over_mpi.is_done()) return runs;
  arguments.back() = "--comm=shared_memory";
  runs.over_shared_memory = programs.run_ranks(2, "collective_bench", arguments);
  return runs;
}

bool is_isolated(const ProgramRun& run) {
  return run.stderr_text.find("but 1 rank was started") != std::string::npos;
}

Finding judge_launch(const ProgramRun& run, const std::string& subject, const std::string& done) {
  if (run.end == ProgramRun::End::kNotStarted) {
    return problem(subject, "mpirun: " + run.reason + ": ddp cannot be started",
                   "install Open MPI (tools/install-deps), or load its module so that mpirun is in "
                   "PATH");
  }
  if (!run.is_done() && is_isolated(run)) {
    return problem(
        subject,
        "ranks are isolated: mpirun started several processes, and each takes itself for "
        "the only one",
        "mpirun is of another MPI than the programs: compare mpirun --version with ldd "
        "build/release/bin/step_bench, and load the module that they were built with");
  }
  return judge_run(run, subject, done,
                   "run it by hand: mpirun -np 2 --bind-to none build/release/bin/collective_bench "
                   "--devices=2");
}

Findings judge_ranks(const RankRuns& runs) {
  Findings findings{
      judge_launch(runs.over_mpi, "mpi", "2 ranks found each other and reduced over MPI")};
  const std::string subject = "shared memory";
  if (!runs.over_mpi.is_done()) {
    findings.push_back(not_checked(subject, "ranks cannot be started"));
  } else {
    findings.push_back(
        judge_launch(runs.over_shared_memory, subject, "2 ranks reduced in memory they share"));
  }
  return findings;
}

}  // namespace tandem::doctor
