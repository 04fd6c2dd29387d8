// SPDX-License-Identifier: Apache-2.0
#include "common/comm/nccl/nccl_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string_view>

namespace tandem::nccl {

namespace {

constexpr const char* kFile = "libnccl.so.2";

// The first that has ncclCommFinalize.
constexpr int kOldest = NCCL_VERSION(2, 14, 0);

std::string version_text(int version) {  // 22809 is 2.28.9
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

// Puts the functions in their places; notes the first that is not there.
class Finder {
 public:
  explicit Finder(void* library) : library_(library) {}

  template <class Function>
  void find(Function& place, const char* name) {
    find_optional(place, name);
    if (place == nullptr && missing_.empty()) missing_ = name;
  }

  template <class Function>
  void find_optional(Function& place, const char* name) {
    place = reinterpret_cast<Function>(dlsym(library_, name));
  }

  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  void* const library_;
  std::string missing_;
};

std::string fill(Api& api, void* library) {
  Finder finder(library);
  finder.find(api.get_version, "ncclGetVersion");
  finder.find(api.get_unique_id, "ncclGetUniqueId");
  finder.find(api.get_error_string, "ncclGetErrorString");
  finder.find(api.get_last_error, "ncclGetLastError");
  finder.find(api.comm_init_rank, "ncclCommInitRank");
  finder.find(api.comm_finalize, "ncclCommFinalize");
  finder.find(api.comm_destroy, "ncclCommDestroy");
  finder.find(api.comm_abort, "ncclCommAbort");
  finder.find(api.comm_get_async_error, "ncclCommGetAsyncError");
  finder.find(api.group_start, "ncclGroupStart");
  finder.find(api.group_end, "ncclGroupEnd");
  finder.find(api.all_reduce, "ncclAllReduce");
  finder.find(api.broadcast, "ncclBroadcast");
  finder.find(api.reduce, "ncclReduce");
  finder.find(api.all_gather, "ncclAllGather");
  finder.find(api.reduce_scatter, "ncclReduceScatter");
  finder.find(api.send, "ncclSend");
  finder.find(api.recv, "ncclRecv");
  finder.find_optional(api.mem_alloc, "ncclMemAlloc");
  finder.find_optional(api.mem_free, "ncclMemFree");
  finder.find_optional(api.comm_register, "ncclCommRegister");
  finder.find_optional(api.comm_deregister, "ncclCommDeregister");
  return finder.missing();
}

struct ThisProcess {
  Api api;
  LoadedApi loaded = load_api_from(kFile, api);
};

}  // namespace

LoadedApi load_api_from(const char* file, Api& api) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    return {nullptr,
            fmt::format("{} does not load ({}): install NCCL 2.14 or newer, or add its folder to "
                        "LD_LIBRARY_PATH",
                        file, reason != nullptr ? reason : "unknown reason"),
            ""};
  }
  if (const std::string missing = fill(api, library); !missing.empty()) {
    return {nullptr, fmt::format("{} has no {}: install NCCL 2.14 or newer", file, missing), ""};
  }
  int version = 0;
  if (api.get_version(&version) != ncclSuccess || version < kOldest) {
    return {
        nullptr,
        fmt::format("{} is of version {}: install NCCL 2.14 or newer", file, version_text(version)),
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

}  // namespace tandem::nccl
