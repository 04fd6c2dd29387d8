// SPDX-License-Identifier: Apache-2.0
#include "common/comm/host_collective.h"

#include "common/comm/collective_checks.h"

namespace tandem {

void CollectiveQueue::fail_in(const CollectiveCall& call, const Error& error) {
  throw in_call(call, error);
}

}  // namespace tandem
