// SPDX-License-Identifier: Apache-2.0
#include "common/comm/simulated/collective_time.h"

#include "common/base/error.h"

namespace tandem::simulated {
namespace {

// The bytes of all blocks but the root's, which stay where they are.
Bytes bytes_through_root(const CollectiveRequest& request) {
  std::int64_t elements = 0;
  for (std::size_t rank = 0; rank < request.blocks.size(); ++rank) {
    if (rank != static_cast<std::size_t>(request.root)) elements += request.blocks[rank].count;
  }
  const DType type = request.from.empty() ? request.to.dtype() : request.from.dtype();
  return Bytes{elements * size_of(type)};
}

}  // namespace

LinkModel collective_link(const NodeDescription& node) {
  const LinkDescription& link = node.peer_link ? *node.peer_link : node.host_link;
  return {.latency = link.latency.value, .bytes_per_second = link.bandwidth.value};
}

Nanoseconds collective_time(const LinkModel& link, const CollectiveRequest& request, int ranks) {
  using Kind = CollectiveRequest::Kind;
  switch (request.kind) {
    case Kind::kAllReduce:
      return ring_all_reduce_time(link, request.size(), ranks);
    case Kind::kAllGather:
    case Kind::kReduceScatter:
      return ring_pass_time(link, request.size(), ranks);
    case Kind::kBroadcast:
    case Kind::kReduce:
      return pipelined_time(link, request.size(), ranks);
    case Kind::kScatter:
    case Kind::kGather:
      return transfer_time(link, bytes_through_root(request));
    case Kind::kSend:
    case Kind::kRecv:
      break;
  }
  fail(ErrorKind::kUsage, "messages between two ranks are not simulated");
}

}  // namespace tandem::simulated
