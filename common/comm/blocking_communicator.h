// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/runtime/span.h"

namespace tandem {

// The calls that a BlockingCommunicator needs of a message-passing library, each of which returns
// when this rank is done. The stream's worker makes one call at a time for collectives and
// messages; gather_texts() may run at the same time on the caller's thread. The communicator has
// checked all sizes. `call` names the communicator's collective in which a call is made.
//
// A lost or late peer is a communication error, or ends the process where the library cannot be
// interrupted. A call after abort() is a communication error, too.
class BlockingTransport {
 public:
  BlockingTransport() = default;
  BlockingTransport(const BlockingTransport&) = delete;
  BlockingTransport& operator=(const BlockingTransport&) = delete;
  virtual ~BlockingTransport() = default;

  // `result` becomes the sum of all ranks' `mine`. The two are one place or apart, as in
  // communicator.h.
  virtual void all_reduce(const CollectiveCall& call, ConstAnySpan mine, AnySpan result) = 0;
  // The sum is made in place on the root; `values` of the other ranks are only read.
  virtual void reduce(const CollectiveCall& call, AnySpan values, int root) = 0;
  virtual void reduce_scatter(const CollectiveCall& call, ConstAnySpan all, AnySpan mine) = 0;

  virtual void broadcast(const CollectiveCall& call, AnySpan values, int root) = 0;
  virtual void all_gather(const CollectiveCall& call, ConstAnySpan mine, AnySpan all) = 0;

  // A message never goes from a rank to itself, and is never empty.
  virtual void send(const CollectiveCall& call, ConstAnySpan values, int to) = 0;
  virtual void recv(const CollectiveCall& call, AnySpan values, int from) = 0;

  // Every rank's text, by rank.
  [[nodiscard]] virtual std::vector<std::string> gather_texts(const CollectiveCall& call,
                                                              const std::string& mine) = 0;

  virtual void abort() noexcept = 0;
};

// A communicator on host devices over the blocking calls of a message-passing library, which the
// stream's worker makes. The library treats all memory alike, so allocate() returns the device's
// own memory. A sum of 16-bit numbers is rounded at each addition of two numbers; an average is
// rounded once more after the sum is scaled.
//
// Scatter and gather are messages from and to the root, one rank after the other. A message waits
// for its receiver, so two ranks that both send to each other before they receive wait for ever.
//
// `bootstrap` gives the ranks and is not kept; `device` outlives the communicator.
[[nodiscard]] std::unique_ptr<Communicator> make_blocking_communicator(
    Bootstrap& bootstrap, Device& device, const CommunicatorOptions& options,
    std::unique_ptr<BlockingTransport> transport);

}  // namespace tandem
