// SPDX-License-Identifier: Apache-2.0
#include "common/comm/rank_exchange.h"

#include <optional>

#include "common/base/error.h"

namespace tandem {

namespace {

// "" for success, else a digit for the kind, one for what came between ranks, and the message.
std::string outcome_of(const std::function<void()>& attempt) {
  const std::optional<Error> error = capture_error(attempt);
  if (!error) return "";
  return fmt::format("{}{}{}", static_cast<int>(error->kind()),
                     static_cast<int>(error->peer_failure().kind), error->what());
}

Error error_in(const std::string& outcome) {
  const auto kind = static_cast<ErrorKind>(outcome[0] - '0');
  const std::string message = outcome.substr(2);
  if (kind != ErrorKind::kCommunication) return {kind, message, Error::Reach::kAllRanks};
  const auto between = static_cast<PeerFailure::Kind>(outcome[1] - '0');
  return Error(PeerFailure{.kind = between}, message).of_all_ranks();
}

}  // namespace

void attempt_together(RankExchange& ranks, const std::function<void()>& attempt) {
  std::vector<std::optional<Error>> errors;
  for (const std::string& outcome : ranks.all_gather(outcome_of(attempt))) {
    if (!outcome.empty()) errors.emplace_back(error_in(outcome));
  }
  throw_cause(errors);
}

}  // namespace tandem
