// SPDX-License-Identifier: Apache-2.0
#include "reports/model/agreement.h"

#include <algorithm>
#include <array>

#include "common/stats/comparison.h"
#include "common/stats/summary.h"

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

std::vector<double> medians(const MeasuredLadder& ladder, Rung rung) {
  return ladder.values(
      rung, [](const results::LaunchRecord& record) { return stats::median(record.step_seconds); });
}

Agreement compare(const MeasuredLadder& ladder, const Pair& pair) {
  Agreement found{.end = pair.end, .theirs = {}, .ours = {}, .ratio = {}, .missing = {}};
  found.missing = ladder.sum(minus(pair.theirs, pair.ours)).missing;
  if (!found.missing.empty()) return found;
  const std::vector<double> theirs = medians(ladder, pair.theirs);
  const std::vector<double> ours = medians(ladder, pair.ours);
  found.theirs = stats::center_of_medians(theirs);
  found.ours = stats::center_of_medians(ours);
  found.ratio = stats::ratio_of_medians(theirs, ours);
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
