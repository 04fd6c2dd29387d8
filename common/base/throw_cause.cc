// SPDX-License-Identifier: Apache-2.0
#include "common/base/throw_cause.h"

#include <array>

namespace tandem {
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
