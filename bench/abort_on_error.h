// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include "common/comm/communicator.h"

namespace tandem::bench {

// Aborts the communicator where its scope is left by an error: the other ranks end soon, and so do
// this rank's own streams, which would else wait for them until the deadline. Made behind what owns
// the streams, so that it goes before.
class AbortOnError {
 public:
  explicit AbortOnError(Communicator& ranks) : ranks_(ranks), before_(std::uncaught_exceptions()) {}
  ~AbortOnError() {
    if (std::uncaught_exceptions() > before_) ranks_.abort();
  }
  AbortOnError(const AbortOnError&) = delete;
  AbortOnError& operator=(const AbortOnError&) = delete;

 private:
  Communicator& ranks_;
  const int before_;
};

}  // namespace tandem::bench
