// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

namespace tandem {

// While this object lives, writing to a connection whose other end is gone is an error to the
// calling thread and does not end the process silently. Threads that are started meanwhile inherit
// this. Needed for libraries that write to sockets without MSG_NOSIGNAL.
class BrokenPipeIsAnError {
 public:
  BrokenPipeIsAnError();
  ~BrokenPipeIsAnError();
  BrokenPipeIsAnError(const BrokenPipeIsAnError&) = delete;
  BrokenPipeIsAnError& operator=(const BrokenPipeIsAnError&) = delete;

 private:
  sigset_t before_;           // the signals that the thread blocked before
  bool was_pending_ = false;  // a signal pending from before is not ours to take
};

// Makes a broken pipe an error until the calling thread ends, for a thread of our own that calls
// often: only the first call on a thread costs anything.
void keep_broken_pipe_an_error();

}  // namespace tandem
