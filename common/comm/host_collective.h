// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "common/comm/collective_checks.h"
#include "common/comm/communicator.h"
#include "common/runtime/host/host_stream.h"
#include "common/runtime/stream.h"

namespace tandem {

// A collective as a host stream's worker carries it out, for any transport.
template <class Body>
struct HostCollective {
  const char* name = "";  // a literal: "all_reduce"
  Bytes size;             // this rank's part
  // The accesses to this rank's memory. Accesses to peers' memory are not declared: accesses are
  // reported when the operation starts, which is before the ranks have met.
  std::vector<Access> accesses;
  // Takes the time at which the collective is ready and returns the time at which the collective
  // ends, both by the link model; without a link model neither time means anything.
  Body body;
};

// Queues one rank's collectives: numbers each collective, tells the observer, and puts the
// collective's name and number before the message of its error. Used by one thread at a time.
class CollectiveQueue {
 public:
  // `abort` is called where a collective is dropped because its stream has failed: this rank will
  // not come, and `abort` tells the ranks that would wait for this one.
  CollectiveQueue(const CommunicatorOptions& options, std::function<void()> abort)
      : observer_(options.observer), part_of_(options.part_of), abort_(std::move(abort)) {}

  // Enqueues a transfer where the stream has a modelled link, else an operation. Takes any type of
  // body, since every wrapping of functions costs time in each call.
  template <class Body>
  void enqueue(Stream& stream, HostCollective<Body> collective) {
    host::HostStream& on = host::host_stream(stream);
    const CollectiveCall call = next(collective.name, collective.size);
    ++enqueued_;
    if (observer_ != nullptr) observer_->enqueued(call);
    auto body = [call, observer = observer_,
                 body = std::move(collective.body)](const host::ModelledTime& ready) mutable {
      return carry_out(call, observer, [&] { return body(ready); });
    };
    if (on.link() != nullptr) {
      on.enqueue_transfer(
          {collective.name, std::move(collective.accesses), std::move(body), abort_});
    } else {
      on.enqueue({collective.name, std::move(collective.accesses),
                  [body = std::move(body)]() mutable { static_cast<void>(body({})); }, abort_});
    }
  }

  // The call that messages name for the collective that is enqueued next.
  [[nodiscard]] CollectiveCall next(const char* name, Bytes size) const {
    if (part_of_ != nullptr) return *part_of_;
    return {.sequence = enqueued_ + 1, .name = name, .size = size};
  }

 private:
  template <class Body>
  static host::ModelledTime carry_out(const CollectiveCall& call, CollectiveObserver* observer,
                                      Body&& body) {
    if (observer != nullptr) observer->started(call);
    try {
      const host::ModelledTime end = body();
      if (observer != nullptr) observer->finished(call);
      return end;
    } catch (const Error& error) {
      fail_in(call, error);
    }
  }

  // Throws `error` with the name of the collective in which the error happened.
  [[noreturn]] static void fail_in(const CollectiveCall& call, const Error& error);

  CollectiveObserver* const observer_;   // may be absent
  const CollectiveCall* const part_of_;  // may be absent
  const std::function<void()> abort_;
  std::uint64_t enqueued_ = 0;
};

}  // namespace tandem
