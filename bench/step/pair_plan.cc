// SPDX-License-Identifier: Apache-2.0
#include "bench/step/pair_plan.h"

#include <algorithm>

namespace tandem::bench {
namespace {

constexpr int kMostSets = 20;
constexpr int kFewestPairs = 5;  // pairs of a set, for the set's median to be meaningful

}  // namespace

std::vector<PairSet> plan_pairs(int pairs) {
  const int sets = std::max(1, std::min(kMostSets, pairs / kFewestPairs) / 2 * 2);
  std::vector<PairSet> plan;
  for (int set = 0; set < sets; ++set) {
    plan.push_back({.pairs = pairs / sets + (set < pairs % sets ? 1 : 0), .b_first = set % 2 == 1});
  }
  return plan;
}

}  // namespace tandem::bench
