// SPDX-License-Identifier: Apache-2.0
//
// The pretended CUPTI: it takes no subscriber, so that torch's profiler says that activities of
// CUDA will be missing and goes on with the host's. The real library, on a pretended driver, calls
// itself without end.
#include <cstdint>

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
  *version = static_cast<uint32_t>(settings().versions.runtime) / 10;
  return 0;
}

int cuptiGetResultString(int status, const char** text) {
  *text = status == 0 ? "CUPTI_SUCCESS" : "CUPTI_ERROR_NOT_SUPPORTED";
  return 0;
}
}
