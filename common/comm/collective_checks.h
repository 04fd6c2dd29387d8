// SPDX-License-Identifier: Apache-2.0
//
// The checks that every communicator makes before it enqueues a collective.
#pragma once

#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/comm/communicator.h"
#include "common/runtime/stream.h"

namespace tandem {

// The root's side of a scatter or gather may be host memory, away from the stream's device.
[[nodiscard]] Access at_root(Access access);

[[nodiscard]] inline Access reads(ConstAnySpan span) { return reads(span.bytes()); }
[[nodiscard]] inline Access writes(AnySpan span) { return writes(span.bytes()); }

// A logic error where `mine` and `result` differ in type or size.
void check_same_shape(const char* name, ConstAnySpan mine, ConstAnySpan result);

// Checks a reduction to a root: as check_same_shape() on the root; elsewhere `result` is `mine` or
// empty.
void check_reduction(ConstAnySpan mine, ConstAnySpan result, bool is_root);

// A logic error where `all` is not `ranks` times as large as `mine`, of the same type.
void check_parts(const char* name, ConstAnySpan mine, ConstAnySpan all, int ranks);

// A logic error where `rank` is none of `ranks`, or where a rank would send to itself.
void check_root(int root, int ranks);
void check_peer(int peer, int rank, int ranks);

// A logic error where `blocks` are not one per rank, do not fit this rank's `mine`, or on root not
// `at_root`.
void check_blocks(const std::vector<Block>& blocks, ConstAnySpan mine, ConstAnySpan at_root,
                  bool is_root, int rank, int ranks);

// The factor of the sum: 1, or 1 / ranks for an average.
[[nodiscard]] constexpr float factor_of(ReduceOp op, int ranks) {
  return op == ReduceOp::kAverage ? 1.0F / static_cast<float>(ranks) : 1.0F;
}

// `error` with the collective's name in front: "in all_reduce #3 (4.0 MiB): ...".
[[nodiscard]] Error in_call(const CollectiveCall& call, const Error& error);

// The error of a rank that waited for other ranks in a call, on any transport: "rank 0 waited 60 s
// in all_reduce (#3, 4.0 MiB) for ranks that are lost or late: ...". `rank` is the job's.
[[nodiscard]] Error waited_in_vain(int rank, Nanoseconds waited, const CollectiveCall& call);

// The error of a rank that waited outside any call of a communicator: "rank 0 waited 60 s for MPI
// to start: another rank is ...".
[[nodiscard]] Error waited_in_vain(int rank, Nanoseconds waited, const std::string& what);

// The error after another rank gave up: "rank 0: the communicator was aborted".
[[nodiscard]] Error aborted_by_others(int rank);

}  // namespace tandem
