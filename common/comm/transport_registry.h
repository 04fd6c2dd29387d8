// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"

namespace tandem {

// What moves data between the ranks of a job on host devices.
enum class Transport {
  kAuto,          // the fastest for where the ranks are: shared_memory, on several nodes with mpi
  kSharedMemory,  // one node, threads or processes
  kMpi,           // processes, on any nodes
  kGloo,          // threads or processes, on any nodes; where this build has it
};

// "auto", "shared_memory", "mpi", "gloo". Throws a usage error naming `what`.
[[nodiscard]] Transport parse_transport(std::string_view text, std::string_view what);
[[nodiscard]] std::string_view name_of(Transport transport);

// False where the library was not there when this was built.
[[nodiscard]] bool is_built_in(Transport transport);

// Collective. Throws a usage error where this build, the ranks (threads or processes) or the
// devices (a modelled link) do not suit the transport. `bootstrap`, `device` and the options'
// observer outlive the communicator.
[[nodiscard]] std::unique_ptr<Communicator> make_communicator(
    Transport transport, Bootstrap& bootstrap, Device& device,
    const CommunicatorOptions& options = {});

}  // namespace tandem
