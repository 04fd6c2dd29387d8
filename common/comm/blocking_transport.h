// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/comm/collective_observer.h"
#include "common/runtime/any_span.h"

namespace tandem {

// What a BlockingCommunicator needs of a message-passing library: calls that return when this rank
// is done. One call at a time carries out collectives and messages (the stream's worker);
// gather_texts() may run beside it, on the caller's thread. Sizes fit: the communicator has checked
// them. `call` says in which collective of the communicator a call is made.
//
// A lost or late peer is a communication error, or the end of the process where the library cannot
// be interrupted; so is a call after abort().
class BlockingTransport {
 public:
  BlockingTransport() = default;
  BlockingTransport(const BlockingTransport&) = delete;
  BlockingTransport& operator=(const BlockingTransport&) = delete;
  virtual ~BlockingTransport() = default;

  // The sums of all ranks' `mine`. One place or apart, as in communicator.h.
  virtual void all_reduce(const CollectiveCall& call, ConstAnySpan mine, AnySpan result) = 0;
  // In place on root; elsewhere `values` are only read.
  virtual void reduce(const CollectiveCall& call, AnySpan values, int root) = 0;
  virtual void reduce_scatter(const CollectiveCall& call, ConstAnySpan all, AnySpan mine) = 0;

  virtual void broadcast(const CollectiveCall& call, AnySpan values, int root) = 0;
  virtual void all_gather(const CollectiveCall& call, ConstAnySpan mine, AnySpan all) = 0;

  // Never to or from the rank itself, and never of nothing.
  virtual void send(const CollectiveCall& call, ConstAnySpan values, int to) = 0;
  virtual void recv(const CollectiveCall& call, AnySpan values, int from) = 0;

  // Every rank's text, by rank.
  [[nodiscard]] virtual std::vector<std::string> gather_texts(const CollectiveCall& call,
                                                              const std::string& mine) = 0;

  virtual void abort() noexcept = 0;
};

}  // namespace tandem
