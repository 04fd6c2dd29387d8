// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/sampler.h"
#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/comm/node_layout.h"
#include "common/comm/transport_registry.h"
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
  std::vector<int> gpus{};             // as there; of processes, one for each of a node
  PeerAccess peer_access = PeerAccess::kOn;
  Binding binding = Binding::kNear;
  std::optional<LinkRequest> link{};
  double core_gflops = 0;  // speed of one core that a preset link is scaled to; 0: measured
  Transport transport = Transport::kAuto;
  bool control = false;  // a second communicator is wanted, for a background thread
  CommunicatorOptions communicator{};
};

// Where a job runs: all that a process (a rank) needs before it can build a strategy.
struct Place {
  std::unique_ptr<Platform> platform;
  Device* device = nullptr;  // this rank's; of threads, the first
  std::unique_ptr<Communicator> communicator;
  std::unique_ptr<Communicator> control;  // null unless asked for
  Farewell farewell;                      // how this process says that it cannot go on
  NodeLayout nodes;                       // that the job's ranks run on
  bool oversubscribed = false;            // devices share cores or GPUs, on any node
  // OS numbers, each on its own node, that the job's devices are bound to, in device order.
  std::vector<int> cores;
  int usable_cores = 0;        // by the job's ranks together
  std::string backend_notice;  // which back end was taken and why
  TransportChoice transport;   // what the communicator moves data with, and why where it was chosen
  std::string nccl;            // what is known of NCCL where it may be used; empty: it is not
  std::vector<std::string> warnings;  // of where the devices are, the same on all ranks
  std::string link_notice;  // what is modelled between devices, as numbers; empty: nothing
  double core_gflops = 0;   // that a preset link was scaled to; 0: there is none
};

// What was chosen and why, and the warnings, a line each.
[[nodiscard]] std::string notices_of(const Place& place);

// Refuses, before MPI starts, a job of one process under a launcher of several.
void check_launch(Launch launch);

// What every output of Google Benchmark says of a job: build type, back end, devices that share
// cores, and nodes where they are several.
void add_context(const Place& place);

// Of the job's nodes.
[[nodiscard]] inline Clocks clocks_of(const Place& place) {
  return place.nodes.nodes() == 1 ? Clocks::kCommon : Clocks::kApart;
}

// True where there are two devices or more, and the distance of the first two is one of cores.
[[nodiscard]] bool first_two_share_a_node(const Place& place);

// This rank gives up: peers that wait for it end soon.
void abort(Place& place) noexcept;

// Collective. Throws a usage error where the ranks are not as many as the devices of a job of
// processes, or where nodes come to different back ends. Opens the back end on the cores that the
// ranks of a node may use together - a launcher that binds each rank to one core thereby gives the
// job all of them - and binds the calling thread to its device: a rank of processes has that of its
// number among the ranks of its node. GPUs' threads are bound near them unless asked otherwise, of
// a process all that it has so far. The communicator is the node's shared memory, or over several
// nodes the hierarchical one.
[[nodiscard]] Place open_place(Bootstrap& bootstrap, const PlaceOptions& options);

}  // namespace tandem::bench
