// SPDX-License-Identifier: Apache-2.0
//
// The choice of a job's transport, with its reason. Finding the facts and deciding from them are
// apart, so that every rule is tested without a GPU.
#pragma once

#include <string>

#include "common/comm/bootstrap.h"
#include "common/comm/transport_registry.h"
#include "common/runtime/device.h"

namespace tandem {

// The facts of a job's ranks, the same on all ranks.
struct RankFacts {
  Backend backend = Backend::kHost;
  int ranks = 1;
  bool are_threads = false;  // threads of one process
  // Set on CUDA where NCCL may be chosen:
  std::string sharing{};  // sharing_of(); empty: each has a GPU of its own
  std::string no_nccl{};  // why the first rank without NCCL has none; empty: NCCL is usable
};

// The rules of the choice. Throws a usage error with the reason where `asked` cannot be met.
[[nodiscard]] TransportChoice decide_transport(Transport asked, const RankFacts& facts);

// Collective; loads NCCL where it may be taken.
[[nodiscard]] RankFacts find_rank_facts(Transport asked, Bootstrap& bootstrap, Device& device);

// Two ranks that share a GPU, from each rank's node and hardware ("0 00000000:3B:00.0
// GPU-5f0e..."): "ranks 0 and 2 share a GPU", or that both have slices of one GPU, which are
// devices of their own but one GPU to NCCL. Empty where each rank has its own GPU.
[[nodiscard]] std::string sharing_of(const std::vector<std::string>& hardware);

}  // namespace tandem
