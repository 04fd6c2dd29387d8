// SPDX-License-Identifier: Apache-2.0
#include "bench/job/simulated_job.h"

#include <fmt/format.h>

#include "common/base/error.h"
#include "common/comm/simulated/folded_bootstrap.h"
#include "common/runtime/host/cores.h"
#include "common/runtime/simulated/simulated_platform.h"

namespace tandem::bench {

std::unique_ptr<Bootstrap> simulated_ranks(const JobOptions& options) {
  if (announced_ranks() > 1) {
    fail(ErrorKind::kUsage,
         "--backend=simulated: one process simulates all ranks, and the launcher started {}: run "
         "it without mpirun",
         announced_ranks());
  }
  const bool has_threads = options.launch == Launch::kThreads;
  return simulated::make_folded_bootstrap(has_threads ? 1 : options.devices);
}

Job open_simulated_job(Bootstrap& bootstrap, const JobOptions& options) {
  const HardwareDescription hardware = simulated::described_hardware(options.platform);
  PlatformOptions platform = options.platform;
  platform.devices = options.devices;
  if (options.launch == Launch::kProcesses) platform.own_device = 0;
  Job job;
  job.launch = options.launch;
  job.rank_exit = options.communicator.rank_exit;
  job.nodes = find_nodes(bootstrap);
  job.platform = simulated::make_simulated_platform(hardware, platform);
  job.device = &job.platform->device(0);
  job.simulated_hardware = hardware.name;
  job.backend_notice = fmt::format("backend simulated: {}; nothing is measured", hardware.name);
  job.usable_cores = static_cast<int>(host::allowed_cpus().size());
  job.transport = choose_transport(options.transport, bootstrap, *job.device);
  job.communicator = make_communicator(job.transport, bootstrap, *job.device, options.communicator);
  return job;
}

}  // namespace tandem::bench
