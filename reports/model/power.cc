// SPDX-License-Identifier: Apache-2.0
#include "reports/model/power.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/text.h"
#include "reports/model/subject.h"

namespace tandem::reports {
namespace {

constexpr int kFewestRounds = 3;

void add(std::vector<Telling>& list, const results::Cell& cell, const stats::Estimate& ratio,
         double confidence, std::string what, double least = 1) {
  if (ratio.launches < kFewestRounds) return;
  const std::optional<double> scatter = stats::scatter_of(ratio, confidence);
  if (!scatter) return;
  const std::string precision = what.empty() ? precision_suffix(cell) : "";
  what += fmt::format("{} batch {}{}", cell.model, cell.global_batch, precision);
  if (cell.devices > 1) what += fmt::format(" on {} devices", cell.devices);
  list.push_back({std::move(what), {*scatter, ratio.launches, confidence}, least});
}

std::string difference_text(double ratio) {
  if (ratio >= 2) return fmt::format("a factor of {:.1f}", ratio);
  return fmt::format("{:.2g} %", 100 * (ratio - 1));
}

std::string count_of_rounds(int rounds) {
  if (rounds > stats::kMostRoundsAhead) return fmt::format("more than {}", stats::kMostRoundsAhead);
  return std::to_string(rounds);
}

// "11", "11 to 60", "more than 1000".
std::string range_text(const std::vector<int>& counts) {
  const auto [least, most] = std::ranges::minmax_element(counts);
  if (*least == *most) return count_of_rounds(*least);
  return fmt::format("{} to {}", count_of_rounds(*least), count_of_rounds(*most));
}

// The launches that tell a small difference, kMostRoundsAhead + 1 where these are too few.
int rounds_needed(const Telling& telling) {
  return stats::rounds_to_tell(kSmallDifference, telling.rounds.scatter, telling.rounds.confidence)
      .value_or(stats::kMostRoundsAhead + 1);
}

double least_told(const Telling& telling) {
  return std::max(telling.least, stats::least_ratio_told(telling.rounds));
}

}  // namespace

std::vector<Telling> tellings(const results::Document& document, const Summary& summary) {
  std::vector<Telling> list;
  if (document.sweep.resolving) return list;
  for (const StrategyPair& pair : summary.comparisons) {
    if (!on_several_devices(pair)) continue;
    // Cells that differ by options alone are told apart by the names that the verdict has for them.
    const results::Cell& dp = pair.dp->cell;
    const results::Cell& ddp = pair.ddp->cell;
    const bool are_plain = is_plain(dp) && is_plain(ddp);
    const std::string names =
        are_plain ? "" : strategy_label(dp) + " and " + strategy_label(ddp) + " on ";
    add(list, dp, pair.ddp_speed, pair.confidence, names);
  }
  return list;
}

std::vector<Telling> tellings(const DocumentChange& changes) {
  std::vector<Telling> list;
  if (changes.sides.empty()) return list;
  for (const CellChange& cell : changes.cells) {
    add(list, cell.after->cell, cell.time_ratio, changes.confidence,
        strategy_label(cell.after->cell) + " on ", 1 + changes.rule.threshold);
  }
  return list;
}

std::string power_text(const std::vector<Telling>& tellings) {
  if (tellings.empty()) return "";
  const auto [finest, coarsest] = std::ranges::minmax_element(tellings, {}, least_told);
  std::vector<int> rounds;
  std::vector<int> needed;
  for (const Telling& telling : tellings) {
    rounds.push_back(telling.rounds.rounds);
    needed.push_back(rounds_needed(telling));
  }
  std::string differences =
      fmt::format("{} ({})", difference_text(least_told(*finest)), finest->what);
  if (tellings.size() > 1) {
    differences +=
        fmt::format(" to {} ({})", difference_text(least_told(*coarsest)), coarsest->what);
  }
  return fmt::format(
      "What {} launches tell in four of five such sweeps: differences from {} on. To tell {} takes "
      "{} launches.",
      range_text(rounds), differences, difference_text(kSmallDifference), range_text(needed));
}

std::string foretold(const std::vector<results::Document>& sides, int launches) {
  std::vector<Summary> summaries;
  for (const results::Document& side : sides) summaries.push_back(summarize(side));
  std::vector<Telling> list =
      sides.size() == 1
          ? tellings(sides[0], summaries[0])
          : tellings(compare_documents(sides[1], summaries[1], sides[0], summaries[0], {}));
  for (Telling& telling : list) telling.rounds.rounds = launches;
  return power_text(list);
}

}  // namespace tandem::reports
