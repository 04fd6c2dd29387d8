// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <functional>
#include <thread>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/runtime/host/parking.h"

namespace tandem {

// How a rank ends its process, and with the process the job. Ranks that wait for the same peer give
// up almost at once, so the first rank leaves the others time to report their errors, too. An empty
// RankExit does nothing. Any thread which finds that the rank cannot go on calls the functions, and
// they throw nothing.
struct RankExit {
  Nanoseconds grace{0};                          // between a rank's report and the end of the job
  std::function<void(const Error&)> on_error{};  // stores the error where other processes read it
  std::function<void()> on_end{};                // called as the rank ends the job

  // Reports this rank's error, before anything else.
  void report(const Error& error) const;
  // Called after report(): waits where other ranks may be about to report errors, then calls
  // on_end.
  void leave(const Error& error) const;
  // All of the above, and the end of this process without any destructor: reports `error`, writes
  // it to stderr as one line, leaves.
  [[noreturn]] void end_process(const Error& error, int exit_code = 1) const;
};

// Ends this process where a call into a library that cannot be interrupted (MPI's start and end,
// NCCL's start and abort) does not return in time: a stopped peer may hold up such a call for ever.
// While the guard lives, a thread of the guard's own waits, parked. Past `patience` that thread
// ends the process with `error` and `exit_code`.
class ExitGuard : boost::noncopyable {
 public:
  ExitGuard(const Error& error, Nanoseconds patience, const RankExit& rank_exit = {},
            int exit_code = 1);
  ~ExitGuard();  // the call returned

 private:
  void leave_unless_returned(const Error& error, TimePoint deadline, const RankExit& rank_exit,
                             int exit_code) const;

  host::Word returned_{0};
  std::thread thread_;  // last, since it uses the word; empty where no thread could start
};

}  // namespace tandem
