// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/doctor/program_run.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "common/base/error.h"
#include "tools/tandem/launch/launch_command.h"
#include "tools/tandem/launch/launch_site.h"
#include "tools/tandem/process/child_reason.h"

namespace tandem::doctor {

namespace {

using End = cli::ChildResult::End;

// A run takes seconds; a GPU that is opened for the first time may take half a minute.
constexpr std::chrono::seconds kDeadline{90};

// Whether the ranks of a launch did not find each other: each rank took itself for the only one.
bool is_isolated(const ProgramRun& run) {
  return run.result.stderr_text.find("but 1 rank was started") != std::string::npos;
}

}  // namespace

ProgramRun Programs::run(const std::string& program, const std::vector<std::string>& arguments,
                         std::vector<std::string> launcher) const {
  std::vector<std::string> command = std::move(launcher);
  command.push_back((folder_ / program).string());
  command.insert(command.end(), arguments.begin(), arguments.end());
  ProgramRun run;
  run.result = cli::run_child({.arguments = std::move(command),
                               .environment = cli::launch_environment(),
                               .log = file("log"),
                               .timeout = kDeadline},
                              interrupts_);
  if (run.result.end == End::kNotStarted) {
    run.reason = std::strerror(run.result.code);
  } else if (!run.is_done()) {
    run.reason = cli::reason_of(run.result, "it", kDeadline);
  }
  return run;
}

Finding judge_run(const ProgramRun& run, const std::string& subject, const std::string& done,
                  const std::string& advice) {
  if (run.is_done()) {
    return ok(subject, fmt::format("{} ({:.1f} s)", done, run.result.duration.count()));
  }
  if (run.result.end == End::kInterrupted) return not_checked(subject, "interrupted");
  return problem(subject, run.reason, advice);
}

RankRuns run_ranks(const Programs& programs) {
  std::vector<std::string> arguments{"--backend=host", "--devices=2", "--oversubscribe",
                                     "--sizes=64KiB",  "--samples=3", "--comm-timeout=30s",
                                     "--comm=mpi"};
  const std::vector<std::string> ranks = cli::mpirun_here(2);
  RankRuns runs;
  runs.over_mpi = programs.run("collective_bench", arguments, ranks);
  if (!runs.over_mpi.is_done()) return runs;
  arguments.back() = "--comm=shared_memory";
  runs.over_shared_memory = programs.run("collective_bench", arguments, ranks);
  return runs;
}

Finding judge_launch(const ProgramRun& run, const std::string& subject, const std::string& done) {
  if (run.result.end == End::kNotStarted) {
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

NcclRuns run_nccl(const Programs& programs, int devices) {
  NcclRuns runs{.devices = devices, .threads = {}, .processes = {}};
  if (devices < 2) return runs;
  std::vector<std::string> arguments{"--backend=cuda", fmt::format("--devices={}", devices),
                                     "--comm=nccl",    "--sizes=16MiB",
                                     "--samples=5",    "--comm-timeout=60s"};
  runs.processes = programs.run("collective_bench", arguments, cli::mpirun_here(devices));
  arguments.emplace_back("--launch=threads");
  runs.threads = programs.run("collective_bench", arguments);
  return runs;
}

Findings judge_nccl(const NcclRuns& runs) {
  if (runs.devices < 2) {
    return {not_checked("nccl", "it is for two GPUs or more")};
  }
  const std::string advice =
      "NCCL_DEBUG=WARN says which call of the system's failed; look at /dev/shm, memlock and peer "
      "access above";
  return {
      judge_launch(runs.processes, "nccl",
                   fmt::format("{} processes reduced over NCCL", runs.devices)),
      judge_run(runs.threads, "nccl",
                fmt::format("{} threads of a process reduced over NCCL", runs.devices), advice)};
}

}  // namespace tandem::doctor
