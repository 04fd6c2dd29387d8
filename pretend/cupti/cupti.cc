// SPDX-License-Identifier: Apache-2.0
//
// The pretended CUPTI: it takes no subscriber, so that torch's profiler says that activities of
// CUDA will be missing and goes on with the host's. The real library, on a pretended driver, calls
// itself without end.
#include <cstdint>

#include "pretend/core/put.h"
#include "pretend/core/settings.h"

using namespace tandem::pretend;

namespace {

constexpr int kNotSupported = 27;  // CUPTI_ERROR_NOT_SUPPORTED

}  // namespace

extern "C" {

int cuptiSubscribe(void** subscriber, void*, void*) {
  *subscriber = nullptr;
  return kNotSupported;
}

int cuptiGetVersion(uint32_t* version) {
  return put(version, static_cast<uint32_t>(settings().versions.runtime) / 10);
}

int cuptiGetResultString(int status, const char** text) {
  return put(text, status == 0 ? "CUPTI_SUCCESS" : "CUPTI_ERROR_NOT_SUPPORTED");
}
}
