// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/driver/ranks_main.h"
#include "bench/driver/sampler.h"
#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/comm/node_layout.h"
#include "common/comm/transports/transport_registry.h"
#include "common/options/values.h"
#include "common/runtime/platform.h"
#include "simulate/cost/calibration.h"
#include "simulate/engine/simulated_communicator.h"

namespace tandem::bench {

using options::Launch;
using simulated::RankClass;

// The machine that a job asks for.
struct JobOptions {
  int devices = 1;
  Launch launch = Launch::kThreads;
  BackendChoice backend = BackendChoice::kAuto;
  // The command line's options of the platform: device_memory is by the job's devices, gpus are one
  // for each process of a node, and the rest follows when the job is opened.
  PlatformOptions platform{};
  // A simulated job may have a calibration: its file, and what the file has to hold.
  std::string calibration{};
  std::string model{};
  std::string precision{};
  std::int64_t batch = 0;  // on a device
  double scale = 1;        // of the times of simulated forward, loss and backward
  Transport transport = Transport::kAuto;
  CommunicatorOptions communicator{};
  // Simulated processes: rank 0 has other work than the rest (simulate/engine/simulated_ranks.h).
  bool has_root = false;
};

// Gives a job of processes as many devices as the launcher started ranks, unless --devices says.
void give_devices_started(options::Values& values);

// The machine that a command line asks for, the same for every program. Options
// that a program does not declare have their defaults. Throws usage errors.
//
// --comm-timeout is divided into two waits, so that every rank has ended by then: a rank's patience
// with other ranks (the communicator's deadline), and the grace in which ranks that gave up leave
// each other time to say so.
[[nodiscard]] JobOptions job_options(const options::Values& values);

// The objects of a job that a process (a rank) needs before a strategy can be built.
struct Job {
  Launch launch = Launch::kThreads;
  std::unique_ptr<Platform> platform;
  Device* device = nullptr;  // this rank's device; in a job of threads, the first device
  std::unique_ptr<Communicator> communicator;
  RankExit rank_exit;           // the last words of a process that cannot go on
  NodeLayout nodes;             // the nodes that the job's ranks run on
  bool oversubscribed = false;  // devices share cores or GPUs, on any node
  // The OS numbers of the cores, each on its own node, that the job's devices are bound to, in
  // device order.
  std::vector<int> cores;
  int usable_cores = 0;               // cores that the job's ranks may use together
  std::string backend_notice;         // the back end and the reason for its choice
  TransportChoice transport;          // the transport, and the reason where it was chosen
  std::string nccl;                   // NCCL's description where NCCL may be used; else empty
  std::vector<std::string> warnings;  // warnings about where the devices are, the same on all ranks
  std::vector<RankClass> rank_classes{};  // of simulated processes; else empty
  std::string simulated_hardware{};       // the description's name; empty: the devices are there
  // The time for which a lone rank's communicator keeps on a core that is simulated
  // (shared_memory/allocations.h).
  std::unique_ptr<Buffer> simulated_stage{};
};

// Whether the job's devices are described alone, so that its times say nothing of this machine.
[[nodiscard]] inline bool is_simulated(const Job& job) { return !job.simulated_hardware.empty(); }

// The choices with their reasons, and the warnings, a line each.
[[nodiscard]] std::string notices_of(const Job& job);

// Throws a usage error, before MPI starts, for a job of one process under a launcher of several.
void check_launch(Launch launch);

// Adds what every output of Google Benchmark says of a job: build type, back end, devices that
// share cores, and nodes where there are several.
void add_context(const Job& job);

// Whether the clocks of the job's ranks are common.
[[nodiscard]] inline Clocks clocks_of(const Job& job) {
  return job.nodes.nodes() == 1 ? Clocks::kCommon : Clocks::kApart;
}

// True where there are two devices or more, and the first two lie on cores of one node.
[[nodiscard]] bool first_two_share_a_node(const Job& job);

// Gives up for this rank: peers that wait for this rank end soon.
void abort(Job& job) noexcept;

// aborting_on_error() (ranks_main.h), with the job's rank exit and abort().
template <class Body>
auto aborting_on_error(Job& job, Body&& body) {
  return aborting_on_error(
      job.rank_exit, [&job] { abort(job); }, std::forward<Body>(body));
}

// Opens the back end on the cores that the ranks of a node may use together - a launcher that binds
// each rank to one core thereby gives the job all of the cores - and binds the calling thread to
// its device; a rank of processes has the device whose number is the rank's number within its node.
// GPUs' threads are bound near the GPUs unless asked otherwise, and in a job of processes all
// threads that a process has so far. The communicator is the node's shared memory, or over several
// nodes MPI's. Throws a usage error where a job of processes has not as many ranks
// as devices, or where nodes come to different back ends. A simulated job looks at no machine
// (simulated_job.h). Collective.
[[nodiscard]] Job open_job(Bootstrap& bootstrap, const JobOptions& options);

}  // namespace tandem::bench
