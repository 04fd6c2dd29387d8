// SPDX-License-Identifier: Apache-2.0
#include "common/comm/nccl/nccl_result.h"

#include <string_view>

namespace tandem::nccl {
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
    case ncclSuccess:
    case ncclInProgress:
    case ncclNumResults:
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
  if (!is_fine(result)) throw error_of(api, result, function);
}

}  // namespace tandem::nccl
