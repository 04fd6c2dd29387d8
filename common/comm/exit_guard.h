// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "common/base/clock.h"
#include "common/runtime/host/parking.h"

namespace tandem {

// Ends this process where a call into a library that cannot be interrupted, MPI's start and end,
// does not return in time: for a peer that is stopped may hold it up for ever. While this lives, a
// thread of its own waits, parked; past `patience` it hands `message` to `last`, writes it to
// stderr as one line and leaves with `exit_code`, without any destructor.
class ExitGuard {
 public:
  using LastWords = std::function<void(const std::string& message)>;
  ExitGuard(std::string message, Nanoseconds patience, int exit_code = 1, LastWords last = {});
  ~ExitGuard();  // the call returned
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;

 private:
  host::Word returned_{0};
  std::thread thread_;  // last: it uses the word; none where none could be started
};

}  // namespace tandem
