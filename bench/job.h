// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/step_options.h"
#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// Where a job runs: all that a process (a rank) needs before it can build a strategy.
struct Place {
  std::unique_ptr<Platform> platform;
  Device* device = nullptr;  // this rank's; of threads, the first
  std::unique_ptr<Communicator> communicator;
  std::vector<int> cores;      // OS numbers that the job's devices are bound to, in device order
  int usable_cores = 0;        // by the job's ranks together
  std::string backend_notice;  // which back end was taken and why
};

// Refuses, before MPI starts, what cannot be meant: a strategy of one process under a launcher of
// several, or --launch=processes with fewer ranks than devices.
void check_launch(const StepOptions& options);

// Collective. Opens the back end on the cores that the job's ranks may use together - a launcher
// that binds each rank to one core thereby gives the job all of them - and binds the calling thread
// to its device.
[[nodiscard]] Place open_place(Bootstrap& bootstrap, const StepOptions& options);

}  // namespace tandem::bench
