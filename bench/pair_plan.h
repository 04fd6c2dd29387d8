// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace tandem::bench {

// One building of both sides of a comparison: where a side's memory comes to lie differs from one
// building to the next, and changes its step time by more than the effects that pairs are for.
struct PairSet {
  int pairs = 0;
  bool b_first = false;  // side b is built first, warmed up first and starts each pair
};

// The sets that `pairs` are dealt out to, evenly: 20, fewer where each would get less than 5 pairs,
// and always an even number, of which every second one has b first. One set below 10 pairs.
[[nodiscard]] std::vector<PairSet> plan_pairs(int pairs);

}  // namespace tandem::bench
