// SPDX-License-Identifier: Apache-2.0
//
// How NCCL carries out a collective and how long that takes: its own model chooses the algorithm
// and the protocol, and a correction by size, which published sweeps gave, makes a time of its
// figure, since the model alone is too fast below 256 MiB.
#pragma once

#include <optional>
#include <string_view>

#include "common/base/units.h"
#include "common/hardware/description.h"
#include "common/hardware/nccl_constants.h"

namespace tandem::nccl {

enum class Call { kAllReduce, kAllGather, kReduceScatter, kBroadcast, kReduce };
enum class Algorithm { kTree, kRing, kNvls, kNvlsTree };
enum class Protocol { kLl, kLl128, kSimple };

[[nodiscard]] std::string_view name_of(Algorithm algorithm);

// The machine as NCCL sees it for a communicator's ranks, which fill one node after another.
struct System {
  NcclTopology topology;
  int ranks = 1;
  int nodes = 1;
  double network = 0;         // bytes per second of a node's link to the others; 0: one node
  double plugin_latency = 0;  // seconds, as the network's plugin reports
};

// The system of `ranks` ranks on nodes of `on_node` GPUs, whose links to the others carry `network`
// bytes per second each, after `plugin_latency` seconds by the network's plugin. Nothing where
// nodes would not be filled alike.
[[nodiscard]] std::optional<System> system_of(const NcclTopology& topology, int ranks, int on_node,
                                              double network, double plugin_latency = 0);

struct Choice {
  Algorithm algorithm = Algorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  double latency = 0;    // seconds, by NCCL's model
  double bandwidth = 0;  // bytes of the call per second, by NCCL's model
};

// What NCCL takes for a call of this size: the way that its model holds to be the fastest. The size
// is that of the whole result of an all-gather, and of the whole input of a reduce-scatter.
[[nodiscard]] Choice choice_of(const System& system, Call call, Bytes size,
                               const Constants& constants = kNccl230);

// The time of a call by the choice's figures, before the correction.
[[nodiscard]] double modelled_seconds(const Choice& choice, Bytes size);

// The time of a call.
[[nodiscard]] Nanoseconds time_of(const System& system, Call call, Bytes size);

}  // namespace tandem::nccl
