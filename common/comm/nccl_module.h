// SPDX-License-Identifier: Apache-2.0
//
// The seam between programs and NCCL: a second entry of the CUDA module, which loads NCCL itself
// with dlopen. Programs include this header and link neither; nodes without NCCL say so.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"

namespace tandem {

struct NcclProbe {
  bool usable = false;
  std::string trouble{};  // why not: "libnccl.so.2 does not load: ..."
  std::string version{};  // "2.28.9"
};

// Raise with every change to NcclModule or to a type that crosses it.
inline constexpr int kNcclModuleAbi = 5;

// The module's exports. `abi` stays first, so that any version of it can be read.
struct NcclModule {
  int abi;
  NcclProbe (*probe)();
  // Collective. One rank, on its GPU; as NcclCommunicator says.
  std::unique_ptr<Communicator> (*make_communicator)(Bootstrap& bootstrap, Device& device,
                                                     const CommunicatorOptions& options);
  // Runs `calls`, in which one thread makes the same call on each of the communicators, all of this
  // module's, as one call: none waits for another rank's to be made.
  void (*together)(const std::vector<Communicator*>& ranks, const std::function<void()>& calls);
};

inline constexpr const char* kNcclModuleEntry = "tandem_nccl_module";

// NCCL's entry of this process's CUDA module; null where there is no module, or one without NCCL.
[[nodiscard]] const NcclModule* find_nccl_module();

// Whether NCCL can be used in this process. Loads NCCL.
[[nodiscard]] NcclProbe probe_nccl();

// Whether NCCL takes several ranks on one GPU: from 2.30 on, where the environment's
// NCCL_MULTI_RANK_GPU_ENABLE is a number other than 0, as NCCL reads it.
[[nodiscard]] bool takes_shared_gpus(const NcclProbe& probe);

// How NCCL moves data, for the record. NCCL does not report its choice of algorithm and protocol,
// so the text holds NCCL's version and the settings of the user's environment.
[[nodiscard]] std::string describe_nccl(const NcclProbe& probe);

// Keeps NCCL from reading and writing peers' memory, for as long as this process lives: to be
// called before NCCL is loaded and before there are other threads.
void forbid_peer_access_to_nccl();

}  // namespace tandem
