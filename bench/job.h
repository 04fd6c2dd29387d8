// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/runtime/link_request.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

enum class Launch { kThreads, kProcesses };

// What a job asks for.
struct PlaceOptions {
  int devices = 1;
  Launch launch = Launch::kThreads;
  BackendChoice backend = BackendChoice::kAuto;
  bool oversubscribe = false;
  std::vector<Bytes> device_memory{};  // as in PlatformOptions
  std::optional<LinkRequest> link{};
  double core_gflops = 0;  // speed of one core that a preset link is scaled to; 0: measured
  CommunicatorOptions communicator{};
};

// Where a job runs: all that a process (a rank) needs before it can build a strategy.
struct Place {
  std::unique_ptr<Platform> platform;
  Device* device = nullptr;  // this rank's; of threads, the first
  std::unique_ptr<Communicator> communicator;
  std::vector<int> cores;      // OS numbers that the job's devices are bound to, in device order
  int usable_cores = 0;        // by the job's ranks together
  std::string backend_notice;  // which back end was taken and why
  std::string link_notice;     // what is modelled between devices, as numbers; empty: nothing
  double core_gflops = 0;      // that a preset link was scaled to; 0: there is none
};

// Refuses, before MPI starts, a job of one process under a launcher of several.
void check_launch(Launch launch);

// What every output of Google Benchmark says of a job: build type, back end, devices that share
// cores.
void add_context(const Place& place);

// Collective. Throws a usage error where the ranks are not as many as the devices of a job of
// processes. Opens the back end on the cores that the job's ranks may use together - a launcher
// that binds each rank to one core thereby gives the job all of them - and binds the calling thread
// to its device.
[[nodiscard]] Place open_place(Bootstrap& bootstrap, const PlaceOptions& options);

}  // namespace tandem::bench
