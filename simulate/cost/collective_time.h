// SPDX-License-Identifier: Apache-2.0
//
// How long transfers over a link take, and collectives over the links of a machine.
#pragma once

#include <optional>

#include "common/base/units.h"
#include "common/comm/communicator.h"
#include "simulate/catalogue/description.h"

namespace tandem {

// A link on which S bytes take a + S/B: `latency` is a, `bytes_per_second` is B, per direction.
struct LinkModel {
  Nanoseconds latency{0};
  double bytes_per_second = 0;  // above 0

  bool operator==(const LinkModel&) const = default;
};

// The time of S bytes from one port to another: a + S/B.
[[nodiscard]] Nanoseconds transfer_time(const LinkModel& link, Bytes size);

// The times of collectives among `ranks` ports; `size` is what each rank holds. A world of one
// transfers nothing.

// One pass around the ring, in which each step carries an n-th part: (n-1)(a + S/(nB)). An
// all-reduce is two.
[[nodiscard]] Nanoseconds ring_pass_time(const LinkModel& link, Bytes size, int ranks);

// The time of a broadcast or reduction along a chain, cut so finely that only the latencies add up.
[[nodiscard]] Nanoseconds pipelined_time(const LinkModel& link, Bytes size, int ranks);

namespace simulated {

// The links that a collective's data crosses. Ranks fill one node after another.
struct CollectiveLinks {
  // Between ranks of a node, and where each rank only sends or only receives, if that differs.
  LinkModel within{};
  std::optional<LinkModel> one_way{};
  LinkModel to_host{};                     // between a rank and its node's memory
  std::optional<LinkModel> among_nodes{};  // of each node, shared by its ranks; absent: one node
  int ranks_of_node = 1;
  std::optional<NcclTopology> nccl{};  // whose model then gives the time of NCCL's own collectives
  Nanoseconds plugin_latency{0};       // of a hop between nodes, as the network's plugin reports it
};

// The links of described hardware: within a node that between peers, or what goes through the host
// where there is none, with the latency of a step of NCCL's over the link to the host.
[[nodiscard]] CollectiveLinks collective_links(const HardwareDescription& hardware);

// The time of a collective among `ranks`, once all are there: that of a ring, of a chain for
// broadcast and reduce, which pass through one node after another, and of
// the root's port for scatter and gather, which may begin or end in the host's memory: ask
// with the root's request, which says so. Where the links have NCCL's topology, and the ranks fill
// nodes alike, all but scatter and gather take the time of nccl_model.h. Else an all-reduce among
// nodes is a tree where that takes less time than a ring. The slowest link decides on the bytes,
// and each hop has the latency of its own link, as in NCCL's model (src/graph/tuning.cc, of 2.30).
// Throws a usage error for a message, which is no collective.
[[nodiscard]] Nanoseconds collective_time(const CollectiveLinks& links,
                                          const CollectiveRequest& request, int ranks);

}  // namespace simulated

}  // namespace tandem
