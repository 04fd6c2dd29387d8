// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "common/base/clock.h"
#include "common/base/error.h"

namespace tandem {

// How a rank ends its process, and with the process the job. Ranks that wait for the same peer give
// up almost at once, so the first rank leaves the others time to report their errors, too. An empty
// Farewell does nothing. Any thread which finds that the rank cannot go on calls the functions, and
// they throw nothing.
struct Farewell {
  Nanoseconds grace{0};                          // between a rank's report and the end of the job
  std::function<void(const Error&)> on_error{};  // stores the error where other processes read it
  std::function<void()> on_end{};                // called as the rank ends the job

  // Reports this rank's error, before anything else.
  void say(const Error& error) const;
  // Called after say(): waits where other ranks may be about to report errors, then calls on_end.
  void wait(const Error& error) const;
};

}  // namespace tandem
