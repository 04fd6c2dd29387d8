// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/comm/communicator.h"
#include "common/runtime/stream.h"

namespace tandem {

// What a communicator tells its observer whose collectives have no moments of real time apart from
// the call, since no peer is waited for: each call is enqueued, started and finished at once. Of
// calls that are captured the observer hears at each replay, which is one collective of all their
// bytes, as over NCCL. Not thread-safe.
class ImmediateCalls final : public CaptureObserver {
 public:
  explicit ImmediateCalls(CollectiveObserver* observer) : observer_(observer) {}  // null: nobody

  void note(const CollectiveRequest& request) {
    if (is_captured_) {
      captured_ += request.size();
    } else {
      tell_of(request.name(), request.size());
    }
  }

  void capture_begins() override {
    is_captured_ = true;
    captured_ = {};
  }
  void capture_ends() override { is_captured_ = false; }
  void replay_begins(Stream& /*stream*/) override { tell_of("replay", captured_); }
  void replay_ends(Stream& /*stream*/) override {}

 private:
  void tell_of(const char* name, Bytes size) {
    if (observer_ == nullptr) return;
    const CollectiveCall call{.sequence = ++told_, .name = name, .size = size};
    observer_->enqueued(call);
    observer_->started(call);
    observer_->finished(call);
  }

  CollectiveObserver* const observer_;
  std::uint64_t told_ = 0;    // of calls, replays included, but for those that were captured
  bool is_captured_ = false;  // what is enqueued now
  Bytes captured_{};          // by collectives
};

}  // namespace tandem
