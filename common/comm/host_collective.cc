// SPDX-License-Identifier: Apache-2.0
#include "common/comm/host_collective.h"

#include "common/base/error.h"

namespace tandem {

void CollectiveQueue::fail_in(const CollectiveCall& call, const Error& error) {
  fail(error.kind(), "in {} #{} ({}): {}", call.name, call.sequence, to_string(call.size),
       error.what());
}

}  // namespace tandem
