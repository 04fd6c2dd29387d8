// SPDX-License-Identifier: Apache-2.0
//
// What every communicator sees to before it enqueues a collective, wherever it runs.
#pragma once

#include <vector>

#include "common/comm/communicator.h"
#include "common/runtime/access.h"

namespace tandem {

// The root's side of a scatter or gather may lie on the host, elsewhere than the stream's device.
[[nodiscard]] Access at_root(Access access);

[[nodiscard]] inline Access reads(ConstAnySpan span) { return reads(span.bytes()); }
[[nodiscard]] inline Access writes(AnySpan span) { return writes(span.bytes()); }

// Of one type and as large, and on `result`'s side ready to take it: else a logic error.
void check_same_shape(const char* name, ConstAnySpan mine, ConstAnySpan result);

// For a reduction to a root: the same on root; elsewhere `result` is `mine` again or empty.
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

// 1, or for an average 1 / ranks.
[[nodiscard]] constexpr float factor_of(ReduceOp op, int ranks) {
  return op == ReduceOp::kAverage ? 1.0F / static_cast<float>(ranks) : 1.0F;
}

}  // namespace tandem
