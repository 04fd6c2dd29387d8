// SPDX-License-Identifier: Apache-2.0
#include "common/comm/agreement.h"

#include <exception>

#include "common/base/error.h"

namespace tandem {
namespace {

// "" for success, else one digit for the kind and the message.
std::string outcome_of(const std::function<void()>& attempt) {
  try {
    attempt();
    return "";
  } catch (const Error& error) {
    return fmt::format("{}{}", static_cast<int>(error.kind()), error.what());
  } catch (const std::exception& error) {
    return fmt::format("{}{}", static_cast<int>(ErrorKind::kFailure), error.what());
  }
}

}  // namespace

void attempt_together(Bootstrap& bootstrap, const std::function<void()>& attempt) {
  for (const std::string& outcome : bootstrap.all_gather(outcome_of(attempt))) {
    if (outcome.empty()) continue;
    throw Error(static_cast<ErrorKind>(outcome.front() - '0'), outcome.substr(1));
  }
}

}  // namespace tandem
