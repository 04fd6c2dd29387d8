// SPDX-License-Identifier: Apache-2.0
//
// The errors that communicators of every transport word alike. Ranks are the job's.
#pragma once

#include <string>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/comm/communicator.h"

namespace tandem {

// `error` with the collective's name in front: "in all_reduce #3 (4.0 MiB): ...".
[[nodiscard]] Error in_call(const CollectiveCall& call, const Error& error);

// The error of a rank that waited for other ranks in a call, on any transport: "rank 0 waited 60 s
// in all_reduce (#3, 4.0 MiB) for ranks that are lost or late: ...".
[[nodiscard]] Error timeout_error(int rank, Nanoseconds waited, const CollectiveCall& call);

// The error of a rank that waited outside any call of a communicator: "rank 0 waited 60 s for MPI
// to start: another rank is ...".
[[nodiscard]] Error timeout_error(int rank, Nanoseconds waited, const std::string& what);

// The error of two ranks whose notes differ: see note_of().
[[nodiscard]] Error diverged(int rank, int peer);

// The error after another rank gave up: "rank 0: the communicator was aborted".
[[nodiscard]] Error aborted_by_others(int rank);

}  // namespace tandem
