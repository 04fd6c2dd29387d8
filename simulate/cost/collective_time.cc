// SPDX-License-Identifier: Apache-2.0
#include "simulate/cost/collective_time.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/base/error.h"
#include "simulate/cost/nccl_model.h"

namespace tandem {

namespace {

Nanoseconds stream_time(const LinkModel& link, double bytes) {
  TANDEM_CHECK(link.bytes_per_second > 0, "a link of {} bytes/s", link.bytes_per_second);
  return Nanoseconds{std::llround(bytes * 1e9 / link.bytes_per_second)};
}

}  // namespace

Nanoseconds transfer_time(const LinkModel& link, Bytes size) {
  return link.latency + stream_time(link, static_cast<double>(size.value));
}

Nanoseconds ring_pass_time(const LinkModel& link, Bytes size, int ranks) {
  const int steps = ranks - 1;
  const double bytes = static_cast<double>(size.value) * steps / ranks;
  return link.latency * steps + stream_time(link, bytes);
}

Nanoseconds pipelined_time(const LinkModel& link, Bytes size, int ranks) {
  if (ranks == 1) return Nanoseconds{0};
  return link.latency * (ranks - 1) + stream_time(link, static_cast<double>(size.value));
}

namespace simulated {
namespace {

LinkModel model_of(const LinkDescription& link) {
  return {.latency = link.latency.value, .bytes_per_second = link.bandwidth.value};
}

// How a ring or chain of all ranks runs through the nodes.
class Row {
 public:
  Row(const CollectiveLinks& links, int ranks) : links_(links), ranks_(ranks) {
    if (ranks <= links.ranks_of_node) return;
    TANDEM_CHECK(links.among_nodes, "{} ranks on a node of {}", ranks, links.ranks_of_node);
    nodes_ = (ranks + links.ranks_of_node - 1) / links.ranks_of_node;
  }

  [[nodiscard]] bool is_on_one_node() const { return nodes_ == 1; }

  // The latencies from the first rank to the last.
  [[nodiscard]] Nanoseconds latency() const {
    const Nanoseconds within = links_.within.latency * (ranks_ - nodes_);
    return is_on_one_node() ? within : within + links_.among_nodes->latency * (nodes_ - 1);
  }

  // From the root of a tree of nodes, within each of which ranks are a chain, to its last leaf.
  [[nodiscard]] Nanoseconds tree_latency() const {
    const auto levels = std::bit_width(static_cast<unsigned>(nodes_ - 1));
    return links_.within.latency * (links_.ranks_of_node - 1) +
           links_.among_nodes->latency * levels;
  }

  // What carries the bytes everywhere: without latencies, which latency() has.
  [[nodiscard]] LinkModel slowest() const {
    double bandwidth = links_.within.bytes_per_second;
    if (!is_on_one_node()) bandwidth = std::min(bandwidth, links_.among_nodes->bytes_per_second);
    return {.latency = Nanoseconds{0}, .bytes_per_second = bandwidth};
  }

 private:
  const CollectiveLinks& links_;
  const int ranks_;
  int nodes_ = 1;
};

// A ring on one node; on several a ring or a tree, whichever takes less time: a tree moves up and
// down again what a ring moves around, at a little less than the links' bandwidth, and has fewer
// hops.
Nanoseconds all_reduce_time(const Row& row, Bytes size, int ranks) {
  constexpr double kOfBandwidth = 0.92;
  LinkModel slowest = row.slowest();
  const Nanoseconds ring = 2 * (row.latency() + ring_pass_time(slowest, size, ranks));
  if (row.is_on_one_node()) return ring;
  slowest.bytes_per_second *= kOfBandwidth;
  return std::min(ring, 2 * (row.tree_latency() + transfer_time(slowest, size)));
}

// The bytes of the blocks of the ranks from `first` up to `end`, but for the root's, which stay
// where they are.
Bytes bytes_of_ranks(const CollectiveRequest& request, int first, int end) {
  std::int64_t elements = 0;
  for (int rank = first; rank < end; ++rank) {
    if (rank != request.root) elements += request.blocks[static_cast<std::size_t>(rank)].count;
  }
  const DType type = request.from.empty() ? request.to.dtype() : request.from.dtype();
  return Bytes{elements * size_of(type)};
}

bool is_of_host(const AnySpan& span) {
  return !span.empty() && span.device().index == DeviceId::kHostMemory;
}
bool is_of_host(const ConstAnySpan& span) {
  return !span.empty() && span.device().index == DeviceId::kHostMemory;
}

// Into or out of the host's memory goes the root's own block as well.
Nanoseconds time_at_host(const CollectiveLinks& links, const CollectiveRequest& request,
                         int ranks) {
  if (!is_of_host(request.from) && !is_of_host(request.to)) return Nanoseconds{0};
  const Block& own = request.blocks[static_cast<std::size_t>(request.root)];
  const DType type = request.from.empty() ? request.to.dtype() : request.from.dtype();
  return transfer_time(links.to_host,
                       bytes_of_ranks(request, 0, ranks) + Bytes{own.count * size_of(type)});
}

// The root's node and the other nodes are served at once, each over a link of its own.
Nanoseconds time_at_root(const CollectiveLinks& links, const CollectiveRequest& request,
                         int ranks) {
  if (ranks <= links.ranks_of_node) {
    return transfer_time(links.within, bytes_of_ranks(request, 0, ranks));
  }
  const int first = request.root / links.ranks_of_node * links.ranks_of_node;
  const int end = std::min(first + links.ranks_of_node, ranks);
  const Bytes here = bytes_of_ranks(request, first, end);
  const Bytes away = bytes_of_ranks(request, 0, first) + bytes_of_ranks(request, end, ranks);
  return std::max(transfer_time(links.within, here), transfer_time(*links.among_nodes, away));
}

// The call of NCCL that the request is; nothing for what NCCL has as messages.
std::optional<nccl::Call> call_of(CollectiveRequest::Kind kind) {
  using Kind = CollectiveRequest::Kind;
  switch (kind) {
    case Kind::kAllReduce:
      return nccl::Call::kAllReduce;
    case Kind::kBroadcast:
      return nccl::Call::kBroadcast;
    case Kind::kReduce:
      return nccl::Call::kReduce;
    case Kind::kScatter:
    case Kind::kGather:
      break;
  }
  return std::nullopt;
}

std::optional<Nanoseconds> nccl_time(const CollectiveLinks& links, const CollectiveRequest& request,
                                     int ranks) {
  const auto call = call_of(request.kind);
  if (!links.nccl || !call) return std::nullopt;
  const double network = links.among_nodes ? links.among_nodes->bytes_per_second : 0;
  const auto system = nccl::system_of(*links.nccl, ranks, links.ranks_of_node, network,
                                      Seconds(links.plugin_latency).count());
  if (!system) return std::nullopt;
  return nccl::time_of(*system, *call, request.size());
}

// The links of a collective whose data goes one way: along a chain, or to or from a root.
CollectiveLinks one_way_of(CollectiveLinks links) {
  if (links.one_way) links.within = *links.one_way;
  return links;
}

}  // namespace

CollectiveLinks collective_links(const HardwareDescription& hardware) {
  const NodeDescription& node = hardware.node;
  CollectiveLinks links{.within = model_of(node.peer_link ? *node.peer_link : node.host_link),
                        .to_host = model_of(node.host_link),
                        .among_nodes = std::nullopt,
                        .ranks_of_node = node.gpus.value,
                        .nccl = node.nccl};
  if (!node.peer_link && node.staged_link) {
    links.within.bytes_per_second = node.staged_link->both_ways.value;
    links.one_way = links.to_host;
    links.one_way->bytes_per_second = node.staged_link->one_way.bandwidth.value;
  }
  if (!hardware.network) return links;
  links.among_nodes = model_of(hardware.network->link);
  if (const auto& latency = hardware.network->plugin_latency) links.plugin_latency = latency->value;
  return links;
}

Nanoseconds collective_time(const CollectiveLinks& links, const CollectiveRequest& request,
                            int ranks) {
  if (const auto time = nccl_time(links, request, ranks)) return *time;
  using Kind = CollectiveRequest::Kind;
  const Row row(links, ranks);
  switch (request.kind) {
    case Kind::kAllReduce:
      return all_reduce_time(row, request.size(), ranks);
    case Kind::kBroadcast:
    case Kind::kReduce: {
      const CollectiveLinks one_way = one_way_of(links);
      const Row chain(one_way, ranks);
      return chain.latency() + pipelined_time(chain.slowest(), request.size(), ranks);
    }
    case Kind::kScatter:
    case Kind::kGather:
      return std::max(time_at_host(links, request, ranks),
                      time_at_root(one_way_of(links), request, ranks));
  }
  fail(ErrorKind::kLogic, "a collective without a name");
}

}  // namespace simulated

}  // namespace tandem
