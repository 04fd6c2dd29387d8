// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/base/clock.h"
#include "common/comm/collective_observer.h"

namespace tandem {

// What a rank says that waited for others in a call, whatever the transport: "rank 0 waited 60 s in
// all_reduce (#3, 4.0 MiB) for ranks that are lost or late: ...". `rank` is the job's.
[[nodiscard]] std::string waited_in_vain(int rank, Nanoseconds waited, const CollectiveCall& call);

}  // namespace tandem
