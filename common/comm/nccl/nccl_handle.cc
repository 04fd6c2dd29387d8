// SPDX-License-Identifier: Apache-2.0
#include "common/comm/nccl/nccl_handle.h"

#include <fmt/format.h>

#include <new>
#include <optional>
#include <utility>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/comm/collective_errors.h"
#include "common/comm/nccl/nccl_api.h"
#include "common/runtime/cuda/device_guard.h"

namespace tandem::nccl {
namespace {

// NCCL may wait for a blocked stream while it aborts.
constexpr Nanoseconds kAbortPatience = std::chrono::seconds(10);

CollectiveCall management(const char* name) {
  return {.sequence = 0, .name = name, .size = Bytes{0}};
}

}  // namespace

Handle::Handle(const Api& api, const Rank& rank, const ncclUniqueId& id)
    : api_(api), rank_(rank), watchdog_(rank_.job_rank, rank_.deadline, [this](const Error& error) {
        rank_.rank_exit.end_process(error);
      }) {
  const auto error = capture_error([&] {
    const Inside inside(*this, management("ncclCommInitRank"));
    const cuda::DeviceGuard here(rank_.gpu);
    check(api_, api_.comm_init_rank(&comm_, rank_.size, id, rank_.rank), "ncclCommInitRank");
  });
  if (!error) return;
  abort(*error);
  throw Error(*error);
}

Handle::~Handle() {
  if (comm_ != nullptr) abort(aborted_by_others(rank_.job_rank));
}

void Handle::throw_if_ended() const {
  if (comm_ == nullptr) throw aborted_by_others(rank_.job_rank);
}

void Handle::make(const Calls& calls) {
  throw_if_ended();
  const cuda::DeviceGuard here(rank_.gpu);
  calls(comm_);
}

void Handle::run(const CollectiveCall& call, const Calls& calls) {
  const Inside inside(*this, call);
  make(calls);
}

ncclResult_t Handle::state() {
  ncclResult_t state = ncclSuccess;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return state;
  throw_if_ended();
  check(api_, api_.comm_get_async_error(comm_, &state), "ncclCommGetAsyncError");
  return state;
}

void Handle::close() {
  run(management("ncclCommFinalize"),
      [this](ncclComm_t comm) { check(api_, api_.comm_finalize(comm), "ncclCommFinalize"); });
  run(management("ncclCommDestroy"), [this](ncclComm_t comm) {
    comm_ = nullptr;
    check(api_, api_.comm_destroy(comm), "ncclCommDestroy");
  });
}

void Handle::abort(const Error& reason) noexcept {
  // Around the lock too: who holds it may be stuck in NCCL.
  std::optional<ExitGuard> guard;
  const std::optional<Error> unguarded = capture_error([&] {
    guard.emplace(
        reason.reworded(fmt::format("{}; NCCL did not abort within {}: ending the process",
                                    reason.what(), to_string(Seconds(kAbortPatience)))),
        kAbortPatience, rank_.rank_exit);
  });
  static_cast<void>(unguarded);  // without memory for words it goes unguarded
  const std::lock_guard lock(mutex_);
  if (comm_ == nullptr) return;
  const cuda::DeviceGuard here(rank_.gpu, std::nothrow);
  // The answer changes nothing, since the communicator is gone either way.
  static_cast<void>(api_.comm_abort(std::exchange(comm_, nullptr)));
}

}  // namespace tandem::nccl
