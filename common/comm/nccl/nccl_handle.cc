// SPDX-License-Identifier: Apache-2.0
#include "common/comm/nccl/nccl_handle.h"

#include <algorithm>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/comm/collective_errors.h"
#include "common/comm/nccl/nccl_api.h"
#include "common/comm/rank_exit.h"
#include "common/runtime/cuda/device_guard.h"
#include "common/runtime/host/parking.h"

namespace tandem::nccl {
namespace {

// NCCL may wait for a blocked stream while it aborts.
constexpr Nanoseconds kAbortPatience = std::chrono::seconds(10);

// A call is mostly on its stream within microseconds, and each step has many of them: who sleeps at
// once sleeps 50 microseconds and more each time.
constexpr Nanoseconds kAwake = std::chrono::microseconds(200);

// Between looks at what is in progress after that.
constexpr Nanoseconds kShortestWait = std::chrono::microseconds(5);
constexpr Nanoseconds kLongestWait = std::chrono::milliseconds(1);

CollectiveCall management(const char* name) {
  return {.sequence = 0, .name = name, .size = Bytes{0}};
}

}  // namespace

Handle::Handle(const Api& api, const Rank& rank, const ncclUniqueId& id, const AbortFlag& peers)
    : api_(api), rank_(rank), peers_(peers) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  const auto error = capture_error([&] {
    {
      const std::lock_guard lock(mutex_);
      const cuda::DeviceGuard here(rank_.gpu);
      check(api_, api_.comm_init_rank_config(&comm_, rank_.size, id, rank_.rank, &config),
            "ncclCommInitRankConfig");
    }
    settle(management("ncclCommInitRankConfig"));
  });
  if (!error) return;
  abort();
  throw Error(*error);
}

Handle::~Handle() {
  if (comm_ != nullptr) abort();
}

void Handle::throw_if_ended() const {
  if (comm_ != nullptr) return;
  throw aborted_by_others(rank_.job_rank);
}

void Handle::launch(const Calls& calls) {
  const std::lock_guard lock(mutex_);
  throw_if_ended();
  const cuda::DeviceGuard here(rank_.gpu);
  calls(comm_);
}

ncclResult_t Handle::state() {
  const std::lock_guard lock(mutex_);
  throw_if_ended();
  ncclResult_t state = ncclSuccess;
  check(api_, api_.comm_get_async_error(comm_, &state), "ncclCommGetAsyncError");
  return state;
}

void Handle::settle(const CollectiveCall& call) {
  const TimePoint start = Clock::now();
  for (Nanoseconds wait = kShortestWait;;) {
    const ncclResult_t now = state();
    if (now == ncclSuccess) return;
    check(api_, now, "ncclCommGetAsyncError");
    if (peers_.is_raised()) throw aborted_by_others(rank_.job_rank);
    const Nanoseconds waited = Clock::now() - start;
    if (waited >= rank_.deadline) throw waited_in_vain(rank_.job_rank, waited, call);
    if (waited < kAwake) {
      std::this_thread::yield();
      continue;
    }
    host::sleep_until(Clock::now() + wait);
    wait = std::min(2 * wait, kLongestWait);
  }
}

void Handle::run(const CollectiveCall& call, const Calls& calls) {
  launch(calls);
  settle(call);
}

void Handle::close() {
  run(management("ncclCommFinalize"),
      [this](ncclComm_t comm) { check(api_, api_.comm_finalize(comm), "ncclCommFinalize"); });
  const std::lock_guard lock(mutex_);
  throw_if_ended();
  const cuda::DeviceGuard here(rank_.gpu);
  check(api_, api_.comm_destroy(std::exchange(comm_, nullptr)), "ncclCommDestroy");
}

void Handle::abort() noexcept {
  // Around the lock too: who holds it may be stuck in NCCL.
  std::optional<ExitGuard> guard;
  const std::optional<Error> unguarded = capture_error([&] {
    guard.emplace(
        Error(ErrorKind::kFailure,
              fmt::format("rank {} waited {} for NCCL to abort, which may hang behind a stream: "
                          "ending the process; look at what was said before",
                          rank_.job_rank, to_string(Seconds(kAbortPatience)))),
        kAbortPatience);
  });
  static_cast<void>(unguarded);  // without memory for words it goes unguarded
  const std::lock_guard lock(mutex_);
  if (comm_ == nullptr) return;
  const cuda::DeviceGuard here(rank_.gpu, std::nothrow);
  // The answer changes nothing, since the communicator is gone either way.
  static_cast<void>(api_.comm_abort(std::exchange(comm_, nullptr)));
}

}  // namespace tandem::nccl
