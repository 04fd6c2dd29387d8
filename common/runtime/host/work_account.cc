// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/work_account.h"

#include <ctime>

namespace tandem::host {

Nanoseconds thread_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + Nanoseconds(now.tv_nsec);
}

}  // namespace tandem::host
