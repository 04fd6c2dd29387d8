// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "common/options/strategies.h"
#include "reports/answer/verdict.h"
#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

using enum options::StrategyKind;

constexpr std::size_t kMostRows = 12;
constexpr std::size_t kMostNames = 4;

bool counts(const StrategyPair& pair) {
  return on_several_devices(pair) && !pair.dp->cell.is_pretended();
}

bool leads_clearly(const StrategyPair& pair) {
  return pair.ddp_verdict != stats::Verdict::kNotResolved && counts(pair) &&
         !is_too_wide(lead_of(pair));
}

// The pair's strategy that leads, by its centre where the verdict is open.
const CellSummary& leader(const StrategyPair& pair) {
  return pair.ddp_speed.center >= 1 ? *pair.ddp : *pair.dp;
}

// Whether a sentence can name the number of devices once for all its places.
bool has_one_device_count(const std::vector<const StrategyPair*>& pairs) {
  const auto devices = [](const StrategyPair* pair) { return pair->dp->cell.devices; };
  return std::ranges::adjacent_find(pairs, std::ranges::not_equal_to{}, devices) == pairs.end();
}

std::string several_devices(const std::vector<const StrategyPair*>& pairs) {
  return has_one_device_count(pairs) ? count_text(pairs.front()->dp->cell.devices, "device")
                                     : "several devices";
}

// The workload, with its number of devices unless the sentence around it has that.
std::string place_of(const StrategyPair& pair, bool with_devices = true) {
  const results::Cell& cell = pair.dp->cell;
  std::string text =
      with_devices ? point_text(cell) : fmt::format("{}, batch {}", cell.model, cell.global_batch);
  text += precision_suffix(cell);
  if (!is_plain(pair.dp->cell) || !is_plain(pair.ddp->cell)) {
    text +=
        fmt::format(" ({} / {})", strategy_label(pair.dp->cell), strategy_label(pair.ddp->cell));
  }
  return text + marks_text(pair);
}

// The faster of both launches of the bound; null where neither was measured.
const CellSummary* bound_of(const StrategyPair& pair, const Summary& summary) {
  const CellSummary* best = nullptr;
  for (const CellSummary& cell : of_same_workload(summary.cells, pair.ddp->cell)) {
    if (cell.cell.strategy != name_of(kIndependent) || cell.launches == 0) continue;
    const bool is_alike = cell.mode == pair.ddp->mode && same_point(cell, *pair.ddp) &&
                          cell.oversubscribed == pair.ddp->oversubscribed &&
                          implementation_of(cell.cell) == implementation_of(pair.ddp->cell);
    if (!is_alike) continue;
    if (best == nullptr || cell.median_step.center < best->median_step.center) best = &cell;
  }
  return best;
}

std::string step_text(const CellSummary* cell) {
  if (cell == nullptr) return "-";
  return is_too_wide(cell->median_step) ? std::string(kTooWide)
                                        : duration_text(cell->median_step.center);
}

struct Use {
  std::string what;
  std::string factor;
};

std::string over(const stats::Estimate& speed, std::string_view other) {
  return is_too_wide(speed) ? std::string(kTooWide)
                            : fmt::format("{} over {}", ratio_text(speed), other);
}

bool is_faster_than_single(const CellSummary& cell) {
  return cell.speedup && stats::judge(*cell.speedup) == stats::Verdict::kFaster;
}

// What is known against one device, where the faster strategy is not clearly faster than it.
std::string against_one(const CellSummary& best) {
  if (!best.speedup) return " (one device was not measured)";
  return is_faster_than_single(best) ? "" : " (no faster than one device)";
}

Use use_of(const StrategyPair& pair) {
  const CellSummary& best = leader(pair);
  const bool is_ddp = &best == pair.ddp;
  const bool is_resolved = pair.ddp_verdict != stats::Verdict::kNotResolved;
  const CellSummary& other = is_ddp ? *pair.dp : *pair.ddp;
  if (is_slower_than_single(best) && (is_resolved || is_slower_than_single(other))) {
    return {"one device", over(stats::rate(1, *best.speedup), best.cell.strategy)};
  }
  if (!is_resolved) {
    return {pair.equal_within ? equal_text(*pair.equal_within) : "not resolved",
            over(pair.ddp_speed, "dp")};
  }
  return {best.cell.strategy + against_one(best), over(lead_of(pair), other.cell.strategy)};
}

std::string slower_strategies(const StrategyPair& pair) {
  std::vector<std::string> parts;
  for (const CellSummary* cell : {pair.dp, pair.ddp}) {
    if (!is_slower_than_single(*cell)) continue;
    const stats::Estimate& speed = *cell->speedup;
    parts.push_back(cell->cell.strategy + (is_too_wide(speed)
                                               ? fmt::format(", {}", kTooWide)
                                               : " at " + factor_text(speed.center)));
  }
  return join(parts, ", ");
}

}  // namespace

bool is_slower_than_single(const CellSummary& cell) {
  return cell.speedup && stats::judge(*cell.speedup) == stats::Verdict::kSlower;
}

std::string marks_text(const StrategyPair& pair) {
  std::vector<std::string> marks;
  if (pair.dp->oversubscribed || pair.ddp->oversubscribed) marks.emplace_back("oversubscribed");
  if (!pair.dp->modelled.empty()) marks.push_back("modelled: " + pair.dp->modelled);
  for (const CellSummary* cell : {pair.dp, pair.ddp}) {
    if (!cell->planted.empty()) marks.push_back(cell->cell.strategy + " planted: " + cell->planted);
  }
  if (pair.dp->mode != "synchronous") marks.push_back(pair.dp->mode);
  return marks.empty() ? "" : " (" + join(marks, ", ") + ")";
}

std::string slower_text(const std::vector<const StrategyPair*>& pairs) {
  std::vector<const StrategyPair*> slower;
  std::ranges::copy_if(pairs, std::back_inserter(slower), [](const StrategyPair* pair) {
    return counts(*pair) && !slower_strategies(*pair).empty();
  });
  if (slower.empty()) return "";
  const bool with_devices = !has_one_device_count(slower);
  std::vector<std::string> places;
  for (const StrategyPair* pair : slower) {
    places.push_back(
        fmt::format("{} ({})", place_of(*pair, with_devices), slower_strategies(*pair)));
  }
  if (places.size() > kMostNames) {
    const std::string more = fmt::format("and {} more", places.size() - kMostNames);
    places.resize(kMostNames);
    places.push_back(more);
  }
  return fmt::format("At {} {} are slower than one (one device: 1x): {}.",
                     slower.size() == 1 ? "this point" : "these points", several_devices(slower),
                     join(places, "; "));
}

std::string gain_text(const std::vector<const StrategyPair*>& pairs) {
  const StrategyPair* place = nullptr;
  const CellSummary* most = nullptr;
  for (const StrategyPair* pair : pairs) {
    if (!counts(*pair)) continue;
    for (const CellSummary* cell : {pair->dp, pair->ddp}) {
      if (!is_faster_than_single(*cell) || is_too_wide(*cell->speedup)) continue;
      if (most != nullptr && most->speedup->center >= cell->speedup->center) continue;
      place = pair;
      most = cell;
    }
  }
  if (most == nullptr) return "";
  return fmt::format(" Against one device the best is {} at {} on {}.", most->cell.strategy,
                     factor_text(most->speedup->center),
                     place_of(*place, !has_one_device_count(pairs)));
}

const StrategyPair* largest_lead(const std::vector<const StrategyPair*>& pairs) {
  const StrategyPair* best = nullptr;
  for (const StrategyPair* pair : pairs) {
    if (!leads_clearly(*pair)) continue;
    if (best == nullptr || lead_of(*pair).center > lead_of(*best).center) best = pair;
  }
  return best;
}

std::string lead_text(const std::vector<const StrategyPair*>& pairs, stats::Verdict winner) {
  std::vector<const StrategyPair*> won;
  std::ranges::copy_if(pairs, std::back_inserter(won), [&](const StrategyPair* pair) {
    return pair->ddp_verdict == winner && leads_clearly(*pair);
  });
  if (won.empty()) return "";
  const StrategyPair& most = *largest_lead(won);
  const StrategyPair& least = **std::ranges::min_element(
      won, {}, [](const StrategyPair* pair) { return lead_of(*pair).center; });
  const std::string times = times_text(lead_of(most).center);
  const std::string place = place_of(most, !has_one_device_count(pairs));
  if (won.size() == 1) return fmt::format(" ({} as fast on {})", times, place);
  const std::string first = times_text(lead_of(least).center);
  if (first == times) return fmt::format(" ({} as fast)", times);
  return fmt::format(" ({} to {} as fast, most on {})", first.substr(0, first.find(' ')), times,
                     place);
}

TextTable choice_table(const Summary& summary, const std::vector<const StrategyPair*>& pairs) {
  TextTable table({"workload", ">one device", ">dp", ">ddp", ">bound", "use", ">factor [95 %]"});
  std::size_t left_out = 0;
  for (const StrategyPair* pair : pairs) {
    if (!counts(*pair)) continue;
    if (table.rows.size() == kMostRows) {
      ++left_out;
      continue;
    }
    const Use use = use_of(*pair);
    table.rows.push_back(
        {place_of(*pair),
         step_text(baseline_of(*pair->ddp, pair->ddp->cell.global_batch, summary.cells)),
         step_text(pair->dp), step_text(pair->ddp), step_text(bound_of(*pair, summary)), use.what,
         use.factor});
  }
  if (left_out > 0) {
    table.rows.push_back({fmt::format("and {} more", left_out), "-", "-", "-", "-", "-", "-"});
  }
  return table;
}

}  // namespace tandem::reports
