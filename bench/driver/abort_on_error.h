// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "common/base/error.h"
#include "common/comm/farewell.h"

namespace tandem::bench {

// Runs `body`. Where `body` throws, this rank's last words are kept first, then `abort()` ends this
// rank's communicators: the other ranks end soon, and so do this rank's own streams, which would
// else wait for the other ranks until the deadline. To be called inside the object that owns the
// streams: streams finish queued work as they are destroyed, and by then the other ranks may have
// ended the job.
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
