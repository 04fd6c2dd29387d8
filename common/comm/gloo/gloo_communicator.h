// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <memory>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"

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

// Ranks as processes or threads, over the TCP of gloo, the library of PyTorch's CPU back end: over
// the loopback on one node, over the interface of the host's name on several. All-reduce is gloo's
// ring, in gloo's own segments. The contract of BlockingCommunicator holds here. A reduce_scatter
// is an all-reduce of which each rank keeps its part, since gloo has no reduce_scatter for every
// number of ranks.
//
// A peer that is later than the deadline is a communication error, and so is an aborted peer. Ranks
// that enqueue different collectives fail at the deadline, or at once with OrderCheck::kAlways;
// without that check, gloo ends the process of a rank that is sent more than the rank expects.
//
// Collective; `bootstrap` is used to connect and not kept, `device` outlives the communicator.
[[nodiscard]] std::unique_ptr<Communicator> make_gloo_communicator(
    Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options = {});

}  // namespace tandem
