// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/doctor/nccl.h"

#include <fmt/format.h>

#include "tools/tandem/doctor/ranks.h"

namespace tandem::doctor {

NcclRuns run_nccl(const Programs& programs, int devices) {
  NcclRuns runs{.devices = devices, .threads = {}, .processes = {}};
  if (devices < 2) return runs;
  std::vector<std::string> arguments{"--backend=cuda", fmt::format("--devices={}", devices),
                                     "--comm=nccl",    "--sizes=16MiB",
                                     "--samples=5",    "--comm-timeout=60s"};
  runs.processes = programs.run_ranks(devices, "collective_bench", arguments);
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
