// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

#include "common/comm/collective_errors.h"
#include "common/comm/communicator.h"
#include "common/runtime/host/host_stream.h"

namespace tandem {

// Queues one rank's collectives on host streams, for any transport: numbers each collective,
// informs the observer, and puts the collective's name and number before the message of its error.
// Used by one thread at a time.
class CollectiveQueue {
 public:
  // `abort` is called where a collective is dropped because its stream has failed: this rank will
  // not come, and `abort` informs the ranks that would wait for this one.
  CollectiveQueue(int rank, const CommunicatorOptions& options, std::function<void()> abort)
      : rank_(rank), observer_(options.observer), abort_(std::move(abort)) {}

  // Accesses to peers' memory are not declared: accesses are reported when the operation starts,
  // which is before the ranks have met.
  //
  // body(call) takes the call that messages name. The body is of any type, since every wrapping of
  // functions costs time in each call.
  template <class Body>
  void enqueue(Stream& stream, const CollectiveRequest& request, Body body) {
    host::HostStream& on = host::host_stream(stream);
    ++enqueued_;
    const char* const name = request.name();
    const CollectiveCall call{.sequence = enqueued_, .name = name, .size = request.size()};
    if (observer_ != nullptr) observer_->enqueued(call);
    on.enqueue({name, request.accesses(rank_),
                [call, observer = observer_, body = std::move(body)]() mutable {
                  carry_out(call, observer, [&] { body(call); });
                },
                abort_});
  }

 private:
  template <class Body>
  static void carry_out(const CollectiveCall& call, CollectiveObserver* observer, Body&& body) {
    if (observer != nullptr) observer->started(call);
    try {
      body();
      if (observer != nullptr) observer->finished(call);
    } catch (const Error& error) {
      throw in_call(call, error);
    }
  }

  const int rank_;
  CollectiveObserver* const observer_;  // may be absent
  const std::function<void()> abort_;
  std::uint64_t enqueued_ = 0;
};

}  // namespace tandem
