// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "common/comm/transports/device_team.h"

namespace tandem::options {
class Values;
}  // namespace tandem::options

namespace tandem::dp {

// The threads that run the replicas' forward passes.
enum class Threads {
  kSpawned,  // torch: a new thread per replica and step
  kKept,     // one per replica, parked between steps
};

// The grouping of weights in a broadcast.
enum class Grouping {
  kTensor,     // each tensor by itself
  kCoalesced,  // torch: chunks of 10 MiB, flattened on the root
  kFlat,       // all tensors in one chunk, as the tensors lie
};

// The order of transfers between the root and the other devices, as the table of options lists the
// orders.
enum class Order {
  kTorch,       // as torch: collective where NCCL serves all devices, else sequential
  kSequential,  // torch without NCCL: the root exchanges with one peer after the other
  kTree,        // in pairs, ceil(log2 n) rounds
  kCollective,  // torch with NCCL: all devices in one call for each chunk
};

enum class LossPlace {
  kRoot,      // torch's usual training loop: on the gathered outputs of the whole batch
  kReplicas,  // in the wrapped module: each replica's own loss, weighted by its shard
};

// The defaults are what torch.nn.DataParallel does.
struct DataParallelOptions {
  std::vector<int> device_ids{};       // in any order, the first is the root; empty: all, in order
  std::optional<int> output_device{};  // device on which outputs are gathered; unset: the root
  std::optional<int> model_device{};   // device on which the user put the model; unset: the root
  Threads threads = Threads::kSpawned;
  Grouping replicate = Grouping::kCoalesced;
  Order broadcast = Order::kTorch;
  LossPlace loss = LossPlace::kRoot;
  Order reduce = Order::kTorch;
  // Options of the devices' communicators, where transfers are collectives; absent: the defaults.
  DeviceTeam::OptionsOf communicators{};
};

// The DataParallel that a command line asks for; the communicators' options are the job's to set.
[[nodiscard]] DataParallelOptions data_parallel_options(const options::Values& values);

}  // namespace tandem::dp
