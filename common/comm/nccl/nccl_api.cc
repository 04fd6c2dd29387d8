// SPDX-License-Identifier: Apache-2.0
#include "common/comm/nccl/nccl_api.h"

#include <fmt/format.h>

#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/comm/collective_errors.h"
#include "common/runtime/cuda/check.h"

namespace tandem::nccl {

namespace {

constexpr const char* kFile = "libnccl.so.2";

// The first that has ncclCommFinalize.
constexpr int kOldest = NCCL_VERSION(2, 14, 0);

std::string version_text(int version) {  // 22809 is 2.28.9
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

struct ThisProcess {
  Api api;
  LoadedApi loaded = load_api_from(kFile, api);
};

}  // namespace

LoadedApi load_api_from(const char* file, Api& api) {
  constexpr const char* kAdvice =
      "install NCCL 2.14 or newer, or add its folder to LD_LIBRARY_PATH";
  Library library(file);
#define TANDEM_FIND(place, name) library.find(api.place, #name);
  TANDEM_EACH_NCCL_CALL(TANDEM_FIND)
#undef TANDEM_FIND
  if (!library.trouble().empty()) {
    return {nullptr, fmt::format("{}: {}", library.trouble(), kAdvice), ""};
  }
  int version = 0;
  if (api.get_version(&version) != ncclSuccess || version < kOldest) {
    return {nullptr, fmt::format("{} is of version {}: {}", file, version_text(version), kAdvice),
            ""};
  }
  return {&api, "", version_text(version)};
}

const LoadedApi& load_api() {
  // Never destroyed: other threads may be inside NCCL while the process ends.
  static const ThisProcess* const process = new ThisProcess;
  return process->loaded;
}

namespace {

struct Meaning {
  ErrorKind kind;
  std::string_view name;
  std::string_view advice;
};

// By NCCL's user guide: only a wrong argument leaves a communicator usable.
Meaning meaning_of(ncclResult_t result) {
  switch (result) {
    case ncclUnhandledCudaError:
      return {ErrorKind::kFailure, "ncclUnhandledCudaError",
              "NCCL_DEBUG=WARN says which call of CUDA's"};
    case ncclSystemError:
      return {ErrorKind::kFailure, "ncclSystemError",
              "NCCL_DEBUG=WARN says which call of the system's; look at /dev/shm, locked memory "
              "and the network"};
    case ncclInternalError:
      return {ErrorKind::kFailure, "ncclInternalError", "NCCL_DEBUG=WARN may say more"};
    case ncclInvalidArgument:
      return {ErrorKind::kLogic, "ncclInvalidArgument", "NCCL_DEBUG=WARN says which"};
    case ncclInvalidUsage:
      return {ErrorKind::kFailure, "ncclInvalidUsage",
              "each rank needs a GPU of its own, and all the same NCCL"};
    case ncclRemoteError:
      return {ErrorKind::kCommunication, "ncclRemoteError",
              "another rank is lost: look at its output"};
    case ncclInProgress:
      return {ErrorKind::kUsage, "ncclInProgress",
              "calls are to block: unset NCCL_COMM_BLOCKING, also in nccl.conf"};
    default:  // no failure, and what newer versions add, such as ncclTimeout of 2.32
      break;
  }
  return {ErrorKind::kFailure, "a result that Tandem does not know",
          "NCCL_DEBUG=WARN may say more"};
}

}  // namespace

ErrorKind kind_of(ncclResult_t result) { return meaning_of(result).kind; }

Error error_of(const Api& api, ncclResult_t result, const char* function) {
  const Meaning meaning = meaning_of(result);
  const char* const last = api.get_last_error(nullptr);
  std::string words = last != nullptr ? last : "";
  for (char& letter : words) {
    if (letter == '\n') letter = ' ';  // errors are one line
  }
  const std::string message =
      fmt::format("{}: {} ({}){}{}; {}", function, api.get_error_string(result), meaning.name,
                  words.empty() ? "" : ": ", words, meaning.advice);
  if (result == ncclRemoteError) return {PeerFailure{.kind = PeerFailure::Kind::kLost}, message};
  return {meaning.kind, message};
}

void check(const Api& api, ncclResult_t result, const char* function) {
  if (result != ncclSuccess) throw error_of(api, result, function);
}

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
