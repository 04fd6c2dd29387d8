// SPDX-License-Identifier: Apache-2.0
#include "reports/model/agreement.h"

#include <algorithm>
#include <array>

#include "reports/model/summary.h"

namespace tandem::reports {
namespace {

struct Pair {
  const char* end;
  Rung theirs;
  Rung ours;
};

constexpr std::array kPairs{Pair{"ddp", Rung::kTheirDdp, Rung::kStockDdp},
                            Pair{"dp", Rung::kTheirDp, Rung::kDp},
                            Pair{"single, a share", Rung::kTheirSingle, Rung::kOwnSingle}};

CellSummary side(const MeasuredLadder& ladder, Rung rung) {
  CellSummary summary;
  fill_medians(summary, ladder.find(rung)->measured);
  return summary;
}

Agreement compare(const MeasuredLadder& ladder, const Pair& pair) {
  Agreement found{.end = pair.end, .theirs = {}, .ours = {}, .ratio = {}, .missing = {}};
  found.missing = ladder.sum(minus(pair.theirs, pair.ours)).missing;
  if (!found.missing.empty()) return found;
  const CellSummary theirs = side(ladder, pair.theirs);
  const CellSummary ours = side(ladder, pair.ours);
  found.theirs = theirs.median_step;
  found.ours = ours.median_step;
  found.ratio = ratio_of(theirs, ours);
  return found;
}

}  // namespace

std::vector<Agreement> agreement_of(const MeasuredLadder& ladder, const GapQuestion& question) {
  std::vector<Agreement> ends;
  if (question.module.empty()) return ends;
  for (const Pair& pair : kPairs) {
    if (ladder.find(pair.theirs) != nullptr) ends.push_back(compare(ladder, pair));
  }
  return ends;
}

std::optional<double> farthest_apart(const std::vector<Agreement>& ends) {
  double farthest = 1;
  for (const Agreement& end : ends) {
    if (!end.ratio || !end.ratio->interval) return std::nullopt;
    const auto& [low, high] = *end.ratio->interval;
    farthest = std::max({farthest, high, 1 / low});
  }
  return farthest;
}

}  // namespace tandem::reports
