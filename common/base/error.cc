// SPDX-License-Identifier: Apache-2.0
#include "common/base/error.h"

#include <array>

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

std::optional<Error> capture_error(const std::function<void()>& body) {
  try {
    body();
    return std::nullopt;
  } catch (const Error& error) {
    return error.reworded(error.what());
  } catch (const std::exception& error) {
    return Error(ErrorKind::kFailure, error.what());
  }
}

namespace {

// The weight of an error, rising from cause to consequence.
std::size_t weight_of(const Error& error) {
  using Kind = PeerFailure::Kind;
  if (error.kind() != ErrorKind::kCommunication) return 0;
  constexpr std::array kOrder{Kind::kDiverged, Kind::kWaited, Kind::kLost, Kind::kUnknown,
                              Kind::kAborted};
  std::size_t place = 0;
  while (kOrder[place] != error.peer_failure().kind) ++place;
  return place + 1;
}

}  // namespace

void throw_cause(const std::vector<std::optional<Error>>& errors) {
  const std::optional<Error>* cause = nullptr;
  for (const auto& error : errors) {
    if (error && (cause == nullptr || weight_of(*error) < weight_of(**cause))) cause = &error;
  }
  if (cause != nullptr) throw Error(**cause);
}

}  // namespace tandem
