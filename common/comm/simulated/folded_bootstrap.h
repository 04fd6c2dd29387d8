// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/comm/bootstrap.h"

namespace tandem::simulated {

// Rank 0 of `ranks` ranks that all say the same: the other ranks are not there, and rank 0 hears
// its own text from each. For simulated ranks of equal work.
[[nodiscard]] std::unique_ptr<Bootstrap> make_folded_bootstrap(int ranks);

// Ranks whose threads one real thread runs in turn, each to its end: none can wait for another's
// text, so each hears its own from all, as equal ranks say the same.
[[nodiscard]] std::unique_ptr<RankGroup> make_ranks_in_turn(int size);

}  // namespace tandem::simulated
