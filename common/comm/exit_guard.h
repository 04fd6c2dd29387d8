// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/comm/farewell.h"
#include "common/runtime/host/parking.h"

namespace tandem {

// Ends this process where a call into a library that cannot be interrupted (MPI's start and end)
// does not return in time: a stopped peer may hold up such a call for ever. While the guard lives,
// a thread of the guard's own waits, parked. Past `patience` that thread says farewell with
// `error`, writes `error` to stderr as one line and leaves with `exit_code`, without any
// destructor.
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
  std::thread thread_;  // last, since it uses the word; empty where no thread could start
};

}  // namespace tandem
