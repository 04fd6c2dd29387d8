// SPDX-License-Identifier: Apache-2.0
#include "common/base/error.h"

namespace tandem {

Error::Error(ErrorKind kind, const std::string& message, Reach reach)
    : std::runtime_error(message), kind_(kind), reach_(reach) {}

Error::Error(PeerFailure failure, const std::string& message)
    : std::runtime_error(message),
      kind_(ErrorKind::kCommunication),
      reach_(Reach::kOwn),
      peer_failure_(std::move(failure)) {}

// Builds a new error with its own text, since copies of an exception share one text.
Error Error::reworded(const std::string& message) const {
  Error same(kind_, message, reach_);
  same.peer_failure_ = peer_failure_;
  return same;
}

Error Error::of_all_ranks() const {
  Error same = reworded(what());
  same.reach_ = Reach::kAllRanks;
  return same;
}

int Error::exit_code() const { return kind_ == ErrorKind::kUsage ? 2 : 1; }

}  // namespace tandem
