// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/comm/farewell.h"
#include "common/runtime/host/parking.h"

namespace tandem {

// Ends this process where a call into a library that cannot be interrupted, MPI's start and end,
// does not return in time: for a peer that is stopped may hold it up for ever. While this lives, a
// thread of its own waits, parked; past `patience` it says farewell with `error`, writes it to
// stderr as one line and leaves with `exit_code`, without any destructor.
class ExitGuard {
 public:
  ExitGuard(const Error& error, Nanoseconds patience, const Farewell& farewell = {},
            int exit_code = 1);
  ~ExitGuard();  // the call returned
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;

 private:
  void leave_unless_returned(const Error& error, TimePoint deadline, const Farewell& farewell,
                             int exit_code) const;

  host::Word returned_{0};
  std::thread thread_;  // last: it uses the word; none where none could be started
};

}  // namespace tandem
