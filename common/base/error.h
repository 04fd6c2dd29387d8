// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "common/base/peer_failure.h"

namespace tandem {

// The kinds of errors, which decide the exit code and whether a sweep goes on.
enum class ErrorKind {
  kUsage,          // the request cannot be met as asked: exit code 2
  kFailure,        // something broke: exit code 1
  kOutOfMemory,    // a device's capacity or a mapping ran out: a result, not a crash
  kCommunication,  // a peer is lost or late, a communicator was aborted
  kLogic,          // a contract of this code was broken: a bug here
};

// The one exception type. The message is one line: the attempt, the error, the remedy.
class Error : public std::runtime_error {
 public:
  // Whether this rank alone met the error, or every rank met the same error and knows so.
  enum class Reach { kOwn, kAllRanks };

  Error(ErrorKind kind, const std::string& message, Reach reach = Reach::kOwn);
  // A communication error, with the facts of the failure between ranks.
  Error(PeerFailure failure, const std::string& message);

  [[nodiscard]] ErrorKind kind() const { return kind_; }
  [[nodiscard]] Reach reach() const { return reach_; }
  [[nodiscard]] const PeerFailure& peer_failure() const { return peer_failure_; }

  // The same error with another message, sharing nothing with this error.
  [[nodiscard]] Error reworded(const std::string& message) const;
  // The same error, with the reach all ranks.
  [[nodiscard]] Error of_all_ranks() const;

  // The exit code: 2 for usage errors, 1 for all other errors.
  [[nodiscard]] int exit_code() const;

 private:
  ErrorKind kind_;
  Reach reach_;
  PeerFailure peer_failure_{};
};

template <class... Args>
[[noreturn]] void fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void fail(PeerFailure failure, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(std::move(failure), fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace tandem
