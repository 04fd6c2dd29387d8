// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "common/base/error.h"
#include "common/comm/farewell.h"

namespace tandem::bench {

// Runs `body`. Where it throws, this rank's words are kept first, then `abort()` ends its
// communicators: the other ranks end soon, and so do this rank's own streams, which would else wait
// for them until the deadline. Called inside what owns the streams: as these go they finish what is
// queued, and by then the others may have ended the job.
template <class Abort, class Body>
auto aborting_on_error(const Farewell& farewell, Abort&& abort, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const Error& error) {
    farewell.say(error);
    abort();
    throw;
  } catch (...) {
    abort();
    throw;
  }
}

}  // namespace tandem::bench
