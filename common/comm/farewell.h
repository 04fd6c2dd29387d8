// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "common/base/clock.h"
#include "common/base/error.h"

namespace tandem {

// How a rank ends its process, and with it the job. Ranks that wait for the same one give up almost
// at once: the first leaves the others time to say what they saw, too. Empty, it does nothing. Its
// functions are called by whatever thread finds that the rank cannot go on; they throw nothing.
struct Farewell {
  Nanoseconds grace{0};  // between a rank's own words and the end of the job
  std::function<void(const Error&)> on_error{};  // keeps the words where others read them
  std::function<void()> on_end{};                // the job is ended now

  // This rank's words, before anything else.
  void say(const Error& error) const;
  // After them: waits where others may be about to say theirs, then tells of the end.
  void wait(const Error& error) const;
};

}  // namespace tandem
