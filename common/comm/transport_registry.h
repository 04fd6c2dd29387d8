// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"

namespace tandem {

// What moves data between the ranks of a job.
enum class Transport {
  kAuto,          // the fastest for what the ranks have; see TransportChoice
  kSharedMemory,  // one node, threads or processes
  kMpi,           // processes, on any nodes
  kGloo,          // threads or processes, on any nodes; where this build has it
  kNccl,          // GPUs, one for each rank; threads or processes, on any nodes
};

// How it gets at the devices' memory.
enum class Route {
  kDirect,
  kStaged,  // GPUs, by a transport of the host's: copied to the host and back
  kSolo,    // one rank for all devices of a process: nothing is moved
};

// What auto comes to. Host devices: shared memory, on several nodes with mpi. GPUs: nccl where each
// rank has one of its own and the library is there, else staged over mpi, or between threads over
// shared memory.
struct TransportChoice {
  Transport transport = Transport::kAuto;
  Route route = Route::kDirect;
  std::string why{};  // for people; empty where nothing was to be chosen
};

// "auto", "shared_memory", "mpi", "gloo", "nccl". Throws a usage error naming `what`.
[[nodiscard]] Transport parse_transport(std::string_view text, std::string_view what);
[[nodiscard]] std::string_view name_of(Transport transport);

// False where the library was not there when this was built.
[[nodiscard]] bool is_built_in(Transport transport);

// Collective: the same on all ranks. Throws a usage error where what is asked for does not suit the
// devices.
[[nodiscard]] TransportChoice choose_transport(Transport asked, Bootstrap& bootstrap,
                                               Device& device);

// Collective. Throws a usage error where this build, the ranks (threads or processes) or the
// devices (a modelled link) do not suit the transport. `bootstrap`, `device` and the options'
// observer outlive the communicator.
[[nodiscard]] std::unique_ptr<Communicator> make_communicator(
    const TransportChoice& choice, Bootstrap& bootstrap, Device& device,
    const CommunicatorOptions& options = {});

// The same with what choose_transport() says.
[[nodiscard]] std::unique_ptr<Communicator> make_communicator(
    Transport asked, Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options = {});

// One that moves no memory of a device, for control alone: a second communicator of NCCL's on one
// GPU would have to be kept in order with the first. Collective.
[[nodiscard]] std::unique_ptr<Communicator> make_control_communicator(
    Transport asked, Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options = {});

}  // namespace tandem
