// SPDX-License-Identifier: Apache-2.0
#include "common/comm/collective_checks.h"

#include <fmt/format.h>

#include "common/base/error.h"
#include "common/base/units.h"

namespace tandem {

Access at_root(Access access) {
  if (access.device.is_host_memory()) access.place = Access::Place::kRemote;
  return access;
}

void check_same_shape(const char* name, ConstAnySpan mine, ConstAnySpan result) {
  TANDEM_CHECK(mine.size() == result.size() && mine.dtype() == result.dtype(),
               "{} of {} elements of {} into {} of {}", name, mine.size(), name_of(mine.dtype()),
               result.size(), name_of(result.dtype()));
}

void check_reduction(ConstAnySpan mine, ConstAnySpan result, bool is_root) {
  if (is_root || !result.empty()) check_same_shape("reduce", mine, result);
  TANDEM_CHECK(is_root || result.empty() || result.data() == mine.data(),
               "a result of {} elements of reduce on another rank than root", result.size());
}

void check_parts(const char* name, ConstAnySpan mine, ConstAnySpan all, int ranks) {
  TANDEM_CHECK(mine.size() * ranks == all.size() && mine.dtype() == all.dtype(),
               "{} of {} elements of {} per rank, and {} of {} for {} ranks", name, mine.size(),
               name_of(mine.dtype()), all.size(), name_of(all.dtype()), ranks);
}

void check_root(int root, int ranks) {
  TANDEM_CHECK(root >= 0 && root < ranks, "root {} of {} ranks", root, ranks);
}

void check_peer(int peer, int rank, int ranks) {
  TANDEM_CHECK(peer >= 0 && peer < ranks && peer != rank, "a message between rank {} and {} of {}",
               rank, peer, ranks);
}

void check_blocks(const std::vector<Block>& blocks, ConstAnySpan mine, ConstAnySpan at_root,
                  bool is_root, int rank, int ranks) {
  TANDEM_CHECK(static_cast<int>(blocks.size()) == ranks, "{} blocks for {} ranks", blocks.size(),
               ranks);
  const std::int64_t count = blocks[static_cast<std::size_t>(rank)].count;
  TANDEM_CHECK(mine.size() == count, "{} elements for a block of {}", mine.size(), count);
  if (is_root && !mine.empty()) {
    TANDEM_CHECK(mine.dtype() == at_root.dtype(), "{} here and {} at root", name_of(mine.dtype()),
                 name_of(at_root.dtype()));
  }
  for (const Block& block : blocks) {
    TANDEM_CHECK(block.offset >= 0 && block.count >= 0, "a block of {} elements at {}", block.count,
                 block.offset);
    TANDEM_CHECK(!is_root || block.offset + block.count <= at_root.size(),
                 "a block of {} elements at {} of root's {}", block.count, block.offset,
                 at_root.size());
  }
}

Error in_call(const CollectiveCall& call, const Error& error) {
  const std::string message = fmt::format("in {} #{} ({}): {}", call.name, call.sequence,
                                          to_string(call.size), error.what());
  if (error.kind() != ErrorKind::kCommunication) return error.reworded(message);
  PeerFailure failure = error.peer_failure();
  failure.call = call.name;
  failure.sequence = call.sequence;
  return {std::move(failure), message};
}

Error waited_in_vain(int rank, Nanoseconds waited, const CollectiveCall& call) {
  const std::string number = call.sequence > 0 ? fmt::format("#{}, ", call.sequence) : "";
  PeerFailure failure{.kind = PeerFailure::Kind::kWaited, .waited = waited};
  failure.call = call.name;
  failure.sequence = call.sequence;
  return {std::move(failure),
          fmt::format("rank {} waited {} in {} ({}{}) for ranks that are lost or late: look at "
                      "their output, or for one that was killed or stopped",
                      rank, to_string(Seconds(waited)), call.name, number, to_string(call.size))};
}

Error waited_in_vain(int rank, Nanoseconds waited, const std::string& what) {
  return {PeerFailure{.kind = PeerFailure::Kind::kWaited, .waited = waited},
          fmt::format("rank {} waited {} for {}: another rank is lost or late, look at its output",
                      rank, to_string(Seconds(waited)), what)};
}

Error aborted_by_others(int rank) {
  return {PeerFailure{.kind = PeerFailure::Kind::kAborted},
          fmt::format("rank {}: the communicator was aborted", rank)};
}

}  // namespace tandem
