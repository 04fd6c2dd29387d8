// SPDX-License-Identifier: Apache-2.0
#include "reports/model/power.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/text.h"

namespace tandem::reports {
namespace {

constexpr int kFewestRounds = 3;

void add(std::vector<Telling>& list, const results::Cell& cell, const stats::Estimate& ratio,
         double confidence, std::string what) {
  if (ratio.launches < kFewestRounds) return;
  const std::optional<double> scatter = stats::scatter_of(ratio, confidence);
  if (!scatter) return;
  what += fmt::format("{} batch {}", cell.model, cell.global_batch);
  if (cell.devices > 1) what += fmt::format(" on {} devices", cell.devices);
  list.push_back({std::move(what), {*scatter, ratio.launches, confidence}});
}

std::string difference_text(double ratio) {
  if (ratio >= 2) return fmt::format("a factor of {:.1f}", ratio);
  return fmt::format("{:.2g} %", 100 * (ratio - 1));
}

// "11", "11 to 60", "more than 1000".
std::string range_text(const std::optional<int>& least, const std::optional<int>& most) {
  const std::string beyond = fmt::format("more than {}", stats::kMostRoundsAhead);
  if (!least) return beyond;
  if (least == most) return std::to_string(*least);
  return most ? fmt::format("{} to {}", *least, *most) : fmt::format("{} to {}", *least, beyond);
}

std::optional<int> rounds_for_a_small_difference(const Telling& telling) {
  return stats::rounds_to_tell(kSmallDifference, telling.rounds.scatter, telling.rounds.confidence);
}

double least_told(const Telling& telling) { return stats::least_ratio_told(telling.rounds); }

}  // namespace

std::vector<Telling> tellings(const results::Document& document, const Summary& summary) {
  std::vector<Telling> list;
  const bool in_rounds = summary.statistic == results::Statistic::kTrimmedInRounds;
  if (!in_rounds || document.sweep.resolving) return list;
  for (const StrategyPair& pair : summary.comparisons) {
    if (!on_several_devices(pair)) continue;
    add(list, pair.dp->cell, pair.ddp_speed, pair.confidence, "");
  }
  return list;
}

std::vector<Telling> tellings(const DocumentChange& changes) {
  std::vector<Telling> list;
  if (changes.sides.empty()) return list;
  for (const CellChange& cell : changes.cells) {
    add(list, cell.after->cell, cell.time_ratio, changes.confidence,
        cell.after->cell.strategy + " on ");
  }
  return list;
}

std::string power_text(const std::vector<Telling>& tellings) {
  if (tellings.empty()) return "";
  const auto [finest, coarsest] = std::ranges::minmax_element(tellings, {}, least_told);
  const auto [fewest, most] = std::ranges::minmax_element(
      tellings, {}, [](const Telling& telling) { return telling.rounds.rounds; });
  std::string differences =
      fmt::format("{} ({})", difference_text(least_told(*finest)), finest->what);
  if (tellings.size() > 1) {
    differences +=
        fmt::format(" to {} ({})", difference_text(least_told(*coarsest)), coarsest->what);
  }
  return fmt::format(
      "What {} launches tell in four of five such sweeps: differences from {} on. To tell {} takes "
      "{} launches.",
      range_text(fewest->rounds.rounds, most->rounds.rounds), differences,
      difference_text(kSmallDifference),
      range_text(rounds_for_a_small_difference(*finest), rounds_for_a_small_difference(*coarsest)));
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
