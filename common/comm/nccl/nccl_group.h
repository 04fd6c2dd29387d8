// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/comm/nccl/nccl_result.h"

namespace tandem::nccl {

// Calls that are one to NCCL: nothing of them is launched before the end, and none waits for
// another. Ended on each path, since a group left open would swallow every later call of its
// thread. Of one thread; groups nest.
class Group {
 public:
  explicit Group(const Api& api) : api_(api) { check(api, api.group_start(), "ncclGroupStart"); }
  ~Group() {
    if (open_) static_cast<void>(api_.group_end());
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  [[nodiscard]] ncclResult_t end() {
    open_ = false;
    return api_.group_end();
  }

 private:
  const Api& api_;
  bool open_ = true;
};

}  // namespace tandem::nccl
