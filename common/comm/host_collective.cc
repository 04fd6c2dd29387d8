// SPDX-License-Identifier: Apache-2.0
#include "common/comm/host_collective.h"

#include "common/base/error.h"
#include "common/runtime/host/host_stream.h"

namespace tandem {
namespace {

// What goes wrong names the collective in which it did.
[[noreturn]] void fail_in(const CollectiveCall& call, const Error& error) {
  fail(error.kind(), "in {} #{} ({}): {}", call.name, call.sequence, to_string(call.size),
       error.what());
}

}  // namespace

void CollectiveQueue::enqueue(Stream& stream, HostCollective collective) {
  host::HostStream& on = host::host_stream(stream);
  const CollectiveCall call = next(collective.name, collective.size);
  ++enqueued_;
  if (observer_ != nullptr) observer_->enqueued(call);
  auto body = [call, observer = observer_,
               body = std::move(collective.body)](const host::ModelledTime& ready) {
    if (observer != nullptr) observer->started(call);
    try {
      const host::ModelledTime end = body(ready);
      if (observer != nullptr) observer->finished(call);
      return end;
    } catch (const Error& error) {
      fail_in(call, error);
    }
  };
  if (on.link() != nullptr) {
    on.enqueue_transfer({collective.name, std::move(collective.accesses), std::move(body), abort_});
  } else {
    on.enqueue({collective.name, std::move(collective.accesses),
                [body = std::move(body)] { static_cast<void>(body({})); }, abort_});
  }
}

}  // namespace tandem
