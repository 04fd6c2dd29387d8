// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

namespace tandem {

// While it lives, writing to a connection whose other end is gone is an error to the calling
// thread, not the process's silent end. Threads that are started meanwhile keep it so. For
// libraries that write to sockets without MSG_NOSIGNAL.
class BrokenPipeIsAnError {
 public:
  BrokenPipeIsAnError();
  ~BrokenPipeIsAnError();
  BrokenPipeIsAnError(const BrokenPipeIsAnError&) = delete;
  BrokenPipeIsAnError& operator=(const BrokenPipeIsAnError&) = delete;

 private:
  sigset_t before_;           // signals that the thread blocked
  bool was_pending_ = false;  // one from before is somebody else's
};

// The same for as long as the calling thread lives, for a thread of our own that calls often: all
// but the first time it costs nothing.
void keep_broken_pipe_an_error();

}  // namespace tandem
