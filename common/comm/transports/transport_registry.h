// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/runtime/device.h"

namespace tandem {

// The transports that move data between the ranks of a job.
enum class Transport {
  kAuto,          // the fastest for what the ranks have; see TransportChoice
  kSharedMemory,  // one node, threads or processes
  kMpi,           // processes, on any nodes
  kNccl,          // GPUs; threads or processes, on any nodes
};

// How a transport reaches the devices' memory.
enum class Route {
  kDirect,
  kStaged,  // shared GPUs by a host transport, and control messages of all GPUs: values are copied
            // to the host and back
  kSolo,    // one rank for all devices of a process: nothing is moved
  kFolded,  // simulated ranks of equal work, of which one stands for all
  kInTurn,  // simulated ranks that are threads of this process
};

// A transport with its route, in place of kAuto. Host devices take shared memory, or mpi on several
// nodes. GPUs take nccl; where ranks share one and NCCL does not take that, they are staged over
// mpi, or over shared memory between threads.
struct TransportChoice {
  Transport transport = Transport::kAuto;
  Route route = Route::kDirect;
  std::string why{};  // for people; empty where there was no choice
};

// "auto", "shared_memory", "mpi", "nccl".
[[nodiscard]] std::string_view name_of(Transport transport);

// Collective; the same choice on all ranks. Throws a usage error where `asked` does not suit the
// devices.
[[nodiscard]] TransportChoice choose_transport(Transport asked, Bootstrap& bootstrap,
                                               Device& device);

// Collective. Throws a usage error where this build or the ranks (threads or processes) do not suit
// the transport. `bootstrap`, `device` and the options'
// observer outlive the communicator.
[[nodiscard]] std::unique_ptr<Communicator> make_communicator(
    const TransportChoice& choice, Bootstrap& bootstrap, Device& device,
    const CommunicatorOptions& options = {});

// Makes a communicator with the choice of choose_transport().
[[nodiscard]] std::unique_ptr<Communicator> make_communicator(
    Transport asked, Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options = {});

// The facts of a job's ranks from which a transport is chosen, the same on all ranks. Finding the
// facts and deciding from them are apart, so that every rule is tested without a GPU.
struct RankFacts {
  Backend backend = Backend::kHost;
  int ranks = 1;
  bool are_threads = false;  // threads of one process
  // Set on CUDA for several ranks:
  std::string sharing{};     // sharing_of(); empty: each has a GPU of its own
  std::string no_nccl{};     // why the first rank without NCCL has none; empty: NCCL is usable
  bool nccl_shares = false;  // takes_shared_gpus() on every rank
};

// The rules of the choice. Throws a usage error with the reason where `asked` cannot be met.
[[nodiscard]] TransportChoice decide_transport(Transport asked, const RankFacts& facts);

// Two ranks that share a GPU, from each rank's node and hardware ("0 00000000:3B:00.0
// GPU-5f0e..."): "ranks 0 and 2 share a GPU", or that both have slices of one GPU, which are
// devices of their own but one GPU to NCCL. Empty where each rank has its own GPU.
[[nodiscard]] std::string sharing_of(const std::vector<std::string>& hardware);

}  // namespace tandem
