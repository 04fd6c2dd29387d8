// SPDX-License-Identifier: Apache-2.0
//
// Which transport a job's ranks take, and why: what is found out (facts) and what follows from it
// are apart, so that every rule is tested without a GPU.
#pragma once

#include <string>

#include "common/comm/bootstrap.h"
#include "common/comm/transport_registry.h"
#include "common/runtime/device.h"

namespace tandem {

// The same on all ranks.
struct RankFacts {
  Backend backend = Backend::kHost;
  int ranks = 1;
  bool are_threads = false;  // of one process
  // On CUDA, where NCCL may be taken:
  std::string sharing{};  // sharing_of(); empty: each has a GPU of its own
  std::string no_nccl{};  // why NCCL cannot be used, on the first rank where; empty: it can
};

// The rules. Where what was asked for cannot be met, a usage error with the reason.
[[nodiscard]] TransportChoice decide_transport(Transport asked, const RankFacts& facts);

// Collective; loads NCCL where it may be taken.
[[nodiscard]] RankFacts find_rank_facts(Transport asked, Bootstrap& bootstrap, Device& device);

// "ranks 0 and 2 share a GPU", by each rank's node and hardware ("0 00000000:3B:00.0 GPU-5f0e...");
// or that they have slices of one, which are devices of their own but one GPU to NCCL. Empty where
// each has its own.
[[nodiscard]] std::string sharing_of(const std::vector<std::string>& hardware);

}  // namespace tandem
