// SPDX-License-Identifier: Apache-2.0
#include "common/comm/agreement.h"

#include <optional>
#include <string>
#include <vector>

#include "common/base/error.h"

namespace tandem {
namespace {

int number_of(PeerFailure::Kind kind) { return static_cast<int>(kind); }

// "" for success, else a digit for the kind, one for what came between ranks, and the message.
std::string outcome_of(const std::function<void()>& attempt) {
  const std::optional<Error> error = capture_error(attempt);
  if (!error) return "";
  return fmt::format("{}{}{}", static_cast<int>(error->kind()),
                     number_of(error->peer_failure().kind), error->what());
}

Error error_in(const std::string& outcome) {
  const auto kind = static_cast<ErrorKind>(outcome[0] - '0');
  const std::string message = outcome.substr(2);
  if (kind != ErrorKind::kCommunication) return {kind, message, Error::Reach::kAllRanks};
  const auto between = static_cast<PeerFailure::Kind>(outcome[1] - '0');
  return Error(PeerFailure{.kind = between}, message).of_all_ranks();
}

}  // namespace

void attempt_together(Bootstrap& bootstrap, const std::function<void()>& attempt) {
  attempt_together([&](const std::string& mine) { return bootstrap.all_gather(mine); }, attempt);
}

void attempt_together(const AllGatherTexts& exchange, const std::function<void()>& attempt) {
  std::vector<std::optional<Error>> errors;
  for (const std::string& outcome : exchange(outcome_of(attempt))) {
    if (!outcome.empty()) errors.emplace_back(error_in(outcome));
  }
  throw_cause(errors);
}

}  // namespace tandem
