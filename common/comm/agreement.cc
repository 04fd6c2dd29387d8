// SPDX-License-Identifier: Apache-2.0
#include "common/comm/agreement.h"

#include <optional>
#include <string>

#include "common/base/capture_error.h"

namespace tandem {
namespace {

// "" for success, else one digit for the kind and the message.
std::string outcome_of(const std::function<void()>& attempt) {
  const std::optional<Error> error = capture_error(attempt);
  return error ? fmt::format("{}{}", static_cast<int>(error->kind()), error->what()) : "";
}

}  // namespace

void attempt_together(Bootstrap& bootstrap, const std::function<void()>& attempt) {
  attempt_together([&](const std::string& mine) { return bootstrap.all_gather(mine); }, attempt);
}

void attempt_together(const AllGatherTexts& exchange, const std::function<void()>& attempt) {
  std::optional<Error> consequence;  // of a peer that gave up
  for (const std::string& outcome : exchange(outcome_of(attempt))) {
    if (outcome.empty()) continue;
    const Error error(static_cast<ErrorKind>(outcome.front() - '0'), outcome.substr(1),
                      Error::Reach::kAllRanks);
    if (error.kind() != ErrorKind::kCommunication) throw error;
    if (!consequence) consequence.emplace(error);
  }
  if (consequence) throw Error(*consequence);
}

}  // namespace tandem
