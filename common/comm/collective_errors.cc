// SPDX-License-Identifier: Apache-2.0
#include "common/comm/collective_errors.h"

#include <fmt/format.h>

#include "common/base/units.h"

namespace tandem {

Error in_call(const CollectiveCall& call, const Error& error) {
  const std::string message = fmt::format("in {} #{} ({}): {}", call.name, call.sequence,
                                          to_string(call.size), error.what());
  if (error.kind() != ErrorKind::kCommunication) return error.reworded(message);
  PeerFailure failure = error.peer_failure();
  failure.call = call.name;
  failure.sequence = call.sequence;
  return {std::move(failure), message};
}

Error timeout_error(int rank, Nanoseconds waited, const CollectiveCall& call) {
  const std::string number = call.sequence > 0 ? fmt::format("#{}, ", call.sequence) : "";
  PeerFailure failure{.kind = PeerFailure::Kind::kWaited, .waited = waited};
  failure.call = call.name;
  failure.sequence = call.sequence;
  return {std::move(failure),
          fmt::format("rank {} waited {} in {} ({}{}) for ranks that are lost or late: look at "
                      "their output, or for one that was killed or stopped",
                      rank, to_string(Seconds(waited)), call.name, number, to_string(call.size))};
}

Error timeout_error(int rank, Nanoseconds waited, const std::string& what) {
  return {PeerFailure{.kind = PeerFailure::Kind::kWaited, .waited = waited},
          fmt::format("rank {} waited {} for {}: another rank is lost or late, look at its output",
                      rank, to_string(Seconds(waited)), what)};
}

Error diverged(int rank, int peer) {
  return {PeerFailure{.kind = PeerFailure::Kind::kDiverged},
          fmt::format("rank {} and rank {} enqueued different collectives: every rank must enqueue "
                      "the same ones in the same order",
                      rank, peer)};
}

Error aborted_by_others(int rank) {
  return {PeerFailure{.kind = PeerFailure::Kind::kAborted},
          fmt::format("rank {}: the communicator was aborted", rank)};
}

}  // namespace tandem
