// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/comm/collective_observer.h"

namespace tandem {

// The error, which names the collective in which it happened: "in all_reduce #3 (4.0 MiB): ...".
[[nodiscard]] Error in_call(const CollectiveCall& call, const Error& error);

// What a rank says that waited for others in a call, whatever the transport: "rank 0 waited 60 s in
// all_reduce (#3, 4.0 MiB) for ranks that are lost or late: ...". `rank` is the job's.
[[nodiscard]] Error waited_in_vain(int rank, Nanoseconds waited, const CollectiveCall& call);

// Outside any call of a communicator: "rank 0 waited 60 s for MPI to start: another rank is ...".
[[nodiscard]] Error waited_in_vain(int rank, Nanoseconds waited, const std::string& what);

// "rank 0: the communicator was aborted": another rank gave up.
[[nodiscard]] Error aborted_by_others(int rank);

}  // namespace tandem
