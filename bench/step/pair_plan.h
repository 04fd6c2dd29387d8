// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace tandem::bench {

// One building of both sides of a comparison. The place of a side's memory differs from one
// building to the next, and changes the side's step time by more than the effects that pairs are
// for.
struct PairSet {
  int pairs = 0;
  bool b_first = false;  // side b is built first, warmed up first and starts each pair
};

// The sets that `pairs` are dealt out to, evenly: 20 sets, fewer where each set would get less than
// 5 pairs, and always an even number, of which every second set has b first. Below 10 pairs there
// is one set.
[[nodiscard]] std::vector<PairSet> plan_pairs(int pairs);

}  // namespace tandem::bench
