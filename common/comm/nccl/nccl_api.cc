// SPDX-License-Identifier: Apache-2.0
#include "common/comm/nccl/nccl_api.h"

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
#define TANDEM_FIND(place, name) library.find_optional(api.place, #name);
  TANDEM_EACH_NCCL_MEMORY_CALL(TANDEM_FIND)
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

}  // namespace tandem::nccl
