// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include "bench/job.h"

namespace tandem::bench {

// Aborts the communicators of a place where its scope is left by an error: the other ranks end
// soon, and so do this rank's own streams, which would else wait for them until the deadline. Made
// behind what owns the streams, so that it goes before.
class AbortOnError {
 public:
  explicit AbortOnError(Place& place) : place_(place), before_(std::uncaught_exceptions()) {}
  ~AbortOnError() {
    if (std::uncaught_exceptions() > before_) abort(place_);
  }
  AbortOnError(const AbortOnError&) = delete;
  AbortOnError& operator=(const AbortOnError&) = delete;

 private:
  Place& place_;
  const int before_;
};

}  // namespace tandem::bench
