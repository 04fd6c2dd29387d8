// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/base/units.h"

// A precondition, checked in all builds: throws a logic error that names the place.
#define TANDEM_CHECK(condition, ...)                                                       \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      ::tandem::fail(::tandem::ErrorKind::kLogic, "{}:{}: {} does not hold: {}", __FILE__, \
                     __LINE__, #condition, ::fmt::format(__VA_ARGS__));                    \
    }                                                                                      \
  } while (false)

namespace tandem {

// The cause of a communication error, which code that looks for the rank to blame reads instead of
// the message.
struct PeerFailure {
  enum class Kind : std::uint8_t {
    kUnknown,   // not known, or no communication error
    kWaited,    // this rank waited past its deadline
    kDiverged,  // ranks enqueued different collectives
    kLost,      // a connection to another rank broke
    kAborted,   // another rank gave up first and aborted this rank
  };
  Kind kind = Kind::kUnknown;
  std::vector<int> awaited{};  // job ranks that had not come; empty: not known
  Nanoseconds waited{0};       // how long this rank waited, of kWaited
  std::string call{};          // the failed call, "all_reduce"; empty: no call
  std::uint64_t sequence = 0;  // the call's number; 0: no number
};

// The kinds of errors, which decide the exit code and whether a sweep goes on.
enum class ErrorKind {
  kUsage,          // the request cannot be met as asked: exit code 2
  kFailure,        // something broke: exit code 1
  kOutOfMemory,    // a device's capacity or a mapping ran out: a result, not a crash
  kCommunication,  // a peer is lost or late, a communicator was aborted
  kLogic,          // a contract of this code was broken: a bug here
};

// The exit code of a program that did its work and found the answer to be bad: a run that became
// slower, a node with a problem, numbers that differ.
inline constexpr int kVerdictExit = 3;

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

// Runs `body` and returns its exception as an Error. Errors cross threads by value: the reference
// count of an exception_ptr lies in uninstrumented code, where ThreadSanitizer cannot see the
// count.
[[nodiscard]] std::optional<Error> capture_error(const std::function<void()>& body);

// Throws the cause among the errors of ranks that work together, if there is any error: the first
// error that is no communication error; else a communication error that names a cause, and last an
// abort by others.
void throw_cause(const std::vector<std::optional<Error>>& errors);

}  // namespace tandem
