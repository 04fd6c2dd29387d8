// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "common/comm/communicator.h"
#include "common/comm/nccl/nccl_api.h"

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

// Calls of one thread on several communicators, all NcclCommunicators, as one group of NCCL's:
// without it the first would wait for the second, which the same thread has yet to make. Where
// `calls` throws, the group is ended all the same.
void call_together(const Api& api, const std::vector<Communicator*>& ranks,
                   const std::function<void()>& calls);

}  // namespace tandem::nccl
