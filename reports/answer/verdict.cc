// SPDX-License-Identifier: Apache-2.0
#include "reports/answer/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "common/base/text.h"
#include "reports/answer/choices.h"
#include "reports/model/notes.h"
#include "reports/model/phases.h"
#include "reports/model/subject.h"
#include "reports/tables/break_even.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

constexpr std::size_t kMostNames = 4;

bool leads_clearly(const StrategyPair& pair) {
  return pair.ddp_verdict != stats::Verdict::kNotResolved && counts(pair) &&
         !is_too_wide(lead_of(pair));
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

std::string slower_strategies(const StrategyPair& pair) {
  std::vector<std::string> parts;
  for (const CellSummary* cell : {pair.dp, pair.ddp}) {
    if (!is_slower_than_single(*cell)) continue;
    const stats::Estimate& speed = *cell->speedup;
    parts.push_back(cell->cell.strategy + (is_too_wide(speed)
                                               ? " at most " + factor_text(speed.interval->high)
                                               : " at " + factor_text(speed.center)));
  }
  return join(parts, ", ");
}

// Where a strategy on several devices is slower than one device beyond doubt: "At this point 2
// devices are slower than one (one device: 1x): mlp-base, batch 64 (dp at 0.87x)."; empty where
// none is. Where numbers of devices differ, "several devices" are, and each place has its own.
std::string slower_text(const Summary& summary, const std::vector<const StrategyPair*>& pairs) {
  std::vector<const StrategyPair*> slower;
  std::ranges::copy_if(pairs, std::back_inserter(slower), [](const StrategyPair* pair) {
    return counts(*pair) && !slower_strategies(*pair).empty();
  });
  if (slower.empty()) return "";
  const bool with_devices = !has_one_device_count(slower);
  std::vector<std::string> places;
  for (const StrategyPair* pair : slower) {
    places.push_back(
        fmt::format("{} ({})", place_of(summary, *pair, with_devices), slower_strategies(*pair)));
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

// Where several devices gain most over one beyond doubt: " Against one device the best is ddp at
// 1.80x on mlp-small, batch 512."; empty where nothing is gained.
std::string gain_text(const Summary& summary, const std::vector<const StrategyPair*>& pairs) {
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
                     place_of(summary, *place, !has_one_device_count(pairs)));
}

// The comparison in which the speed of the faster over the slower is largest beyond doubt; null
// where none is resolved, and none that is_too_wide().
const StrategyPair* largest_lead(const std::vector<const StrategyPair*>& pairs) {
  const StrategyPair* best = nullptr;
  for (const StrategyPair* pair : pairs) {
    if (!leads_clearly(*pair)) continue;
    if (best == nullptr || lead_of(*pair).center > lead_of(*best).center) best = pair;
  }
  return best;
}

// How much faster `winner` (kFaster: ddp, kSlower: dp) is in the comparisons that it wins: " (1.38
// times as fast on mlp-small, batch 64)" of one, " (1.11 to 1.46 times as fast, most on ...)" of
// several; empty where it wins none, or none that is not too wide.
std::string lead_text(const Summary& summary, const std::vector<const StrategyPair*>& pairs,
                      stats::Verdict winner) {
  std::vector<const StrategyPair*> won;
  std::ranges::copy_if(pairs, std::back_inserter(won), [&](const StrategyPair* pair) {
    return pair->ddp_verdict == winner && leads_clearly(*pair);
  });
  if (won.empty()) return "";
  const StrategyPair& most = *largest_lead(won);
  const StrategyPair& least = **std::ranges::min_element(
      won, {}, [](const StrategyPair* pair) { return lead_of(*pair).center; });
  const std::string times = times_text(lead_of(most).center);
  const std::string place = place_of(summary, most, !has_one_device_count(pairs));
  if (won.size() == 1) return fmt::format(" ({} as fast on {})", times, place);
  const std::string first = times_text(lead_of(least).center);
  if (first == times) return fmt::format(" ({} as fast)", times);
  return fmt::format(" ({} to {} as fast, most on {})", first.substr(0, first.find(' ')), times,
                     place);
}

// A workload is the user's choice; strategies and devices are compared for each workload.
auto workload_of(const CellSummary& summary) {
  const results::Cell& cell = summary.cell;
  return std::tuple(cell.backend, cell.model, cell.global_batch, summary.mode,
                    models_but_lock(summary), precision_suffix(cell));
}

struct Tally {
  std::set<int> devices;  // device counts with a comparison
  std::map<stats::Verdict, int> verdicts;
  std::map<stats::Verdict, std::vector<Reason>> reasons;
  int equal = 0;  // how many of those that are not resolved are equal within a ratio
};

std::string pair_point_text(const CellSummary& summary) {
  return fmt::format("{}, batch {}{}, {}", summary.cell.model, summary.cell.global_batch,
                     precision_suffix(summary.cell), count_text(summary.cell.devices, "device"));
}

std::string launches_text(const StrategyPair& pair) {
  if (pair.dp->launches == pair.ddp->launches) {
    return count_text(pair.dp->launches, "launch") + " each";
  }
  return fmt::format("{} of dp and {} of ddp", count_text(pair.dp->launches, "launch"),
                     pair.ddp->launches);
}

// The text ". Against single: dp 1.40x [..], ddp 1.70x [..]": without this comparison the faster of
// two strategies would win though both lose against one device.
std::string against_single(const StrategyPair& pair) {
  if (!pair.dp->speedup || !pair.ddp->speedup || pair.dp->cell.devices == 1) return ".";
  return fmt::format(". Against one device without a wrapper (single): {} {}, {} {}.",
                     strategy_label(pair.dp->cell), ratio_text(*pair.dp->speedup),
                     strategy_label(pair.ddp->cell), ratio_text(*pair.ddp->speedup));
}

std::string sentence(const StrategyPair& pair) {
  const std::string dp = strategy_label(pair.dp->cell);
  const std::string ddp = strategy_label(pair.ddp->cell);
  return pair_point_text(*pair.dp) + marks_text(pair) + ": " +
         speeds_text(pair, dp, ddp, ", " + launches_text(pair)) + disturbed_words(pair, dp, ddp) +
         against_single(pair);
}

// Comparisons of the cell's workload at the largest device count at which both sides measured.
std::vector<const StrategyPair*> at_most_devices(const Summary& summary, const CellSummary& cell) {
  std::vector<const StrategyPair*> found;
  for (const StrategyPair& pair : summary.comparisons) {
    if (workload_of(*pair.dp) != workload_of(cell)) continue;
    const int most = found.empty() ? 0 : found.front()->dp->cell.devices;
    if (pair.dp->cell.devices > most) found.clear();
    if (pair.dp->cell.devices >= most) found.push_back(&pair);
  }
  return found;
}

bool has_measured_pair(const Summary& summary) {
  return std::ranges::any_of(summary.comparisons,
                             [](const StrategyPair& pair) { return pair.dp->modelled.empty(); });
}

struct WorkloadPairs {
  const CellSummary* first = nullptr;      // its first cell
  std::vector<const StrategyPair*> pairs;  // at its largest device count
};

std::vector<WorkloadPairs> workloads_of(const Summary& summary) {
  std::vector<WorkloadPairs> workloads;
  std::set<decltype(workload_of(summary.cells.front()))> seen;
  for (const CellSummary& cell : summary.cells) {
    if (!seen.insert(workload_of(cell)).second) continue;
    workloads.push_back({.first = &cell, .pairs = at_most_devices(summary, cell)});
  }
  return workloads;
}

std::string overall_text(const Summary& summary, Tally& total,
                         const std::vector<const StrategyPair*>& counted, bool any_comparison) {
  const int ddp = total.verdicts[stats::Verdict::kFaster];
  const int dp = total.verdicts[stats::Verdict::kSlower];
  const int unresolved = total.verdicts[stats::Verdict::kNotResolved];
  const int all = ddp + dp + unresolved;
  if (all == 0 && any_comparison) {
    return "Only one device was measured, where dp and ddp have nothing to exchange: this says "
           "nothing about which one parallelises better.";
  }
  if (all == 0) return "No step was measured under both dp and ddp: nothing to compare.";
  const std::string where =
      all == 1 ? "in the one comparison" : fmt::format("in all {} comparisons", all);
  const std::string devices = fmt::format("on {} devices", fmt::join(total.devices, " or "));
  const auto lead = [&](stats::Verdict winner) { return lead_text(summary, counted, winner); };
  const auto why = [&](stats::Verdict winner) { return because(total.reasons[winner]); };
  if (ddp == all) {
    return fmt::format("ddp is faster than dp {} {}{}.{}", where, devices,
                       lead(stats::Verdict::kFaster), why(stats::Verdict::kFaster));
  }
  if (dp == all) {
    return fmt::format("dp is faster than ddp {} {}{}.{}", where, devices,
                       lead(stats::Verdict::kSlower), why(stats::Verdict::kSlower));
  }
  if (total.equal == all) return fmt::format("dp and ddp are equal {} {}.", where, devices);
  if (unresolved == all && total.equal == 0) {
    return fmt::format("dp against ddp is not resolved {} {}.", where, devices);
  }
  std::string rest = total.equal > 0 ? fmt::format("; both are equal in {}", total.equal) : "";
  if (unresolved > total.equal) {
    rest += fmt::format("; {} not resolved", unresolved - total.equal);
  }
  const bool is_ddp = ddp >= dp;
  const stats::Verdict most = is_ddp ? stats::Verdict::kFaster : stats::Verdict::kSlower;
  const stats::Verdict least = is_ddp ? stats::Verdict::kSlower : stats::Verdict::kFaster;
  const int losses = total.verdicts[least];
  return fmt::format(
      "{0} is faster than {1} in {2} of {3} comparisons {4}{5}; {1} in {6}{7}{8}.{9}{10}",
      is_ddp ? "ddp" : "dp", is_ddp ? "dp" : "ddp", total.verdicts[most], all, devices, lead(most),
      losses == 0 ? "none" : std::to_string(losses), lead(least), rest, why(most), why(least));
}

std::string tested_text(const Summary& summary) {
  const std::string range = tested_range(summary);
  return range.empty() ? "" : "Tested: " + range + ".";
}

std::vector<std::string> breaks_of(const Summary& summary) {
  std::vector<std::string> breaks = first_sentences(break_even_lines(summary));
  const std::string sweep = any_resolved(summary) ? "" : deciding_sweep(summary);
  if (!sweep.empty()) breaks.push_back(sweep);
  return breaks;
}

// Tandem's own answer, without the pairs of the implementation that speaks for itself; empty: none.
void add_own(VerdictText& text, const Summary& summary, const std::vector<WorkloadPairs>& workloads,
             const std::string& speaks_first) {
  const auto is_own = [&](const StrategyPair& pair) {
    return speaks_first.empty() || implementation_of(pair.dp->cell) != speaks_first;
  };
  Tally total;
  std::vector<const StrategyPair*> counted;
  const bool any_measured = has_measured_pair(summary);
  for (const auto& [cell, pairs] : workloads) {
    for (const StrategyPair* pair : pairs) {
      if (!is_own(*pair)) continue;
      text.workloads.push_back(sentence(*pair));
      // A modelled comparison never decides beside measured ones, nor does another
      // implementation's.
      const bool counts =
          (pair->dp->modelled.empty() || !any_measured) && is_of_subject(*pair, summary);
      if (pair->dp->cell.devices == 1 || !counts) continue;
      counted.push_back(pair);
      total.devices.insert(pair->dp->cell.devices);
      ++total.verdicts[pair->ddp_verdict];
      if (auto reason = reason_of(*pair)) {
        total.reasons[pair->ddp_verdict].push_back(std::move(*reason));
      }
      if (is_shown_equal(*pair)) ++total.equal;
    }
    // A projection's base on one device is no comparison that is missing.
    const bool is_base = cell->cell.is_simulated() && cell->cell.devices == 1;
    if (pairs.empty() && !is_base) {
      text.workloads.push_back(
          fmt::format("{}, batch {}{}{}: no step was measured under both dp and ddp.",
                      cell->cell.model, cell->cell.global_batch, precision_suffix(cell->cell),
                      cell->modelled.empty() ? "" : " (modelled: " + cell->modelled + ")"));
    }
  }
  text.overall =
      overall_text(summary, total, counted, std::ranges::any_of(summary.comparisons, is_own)) +
      gain_text(summary, counted);
  if (any_measured || summary.comparisons.empty()) return;
  text.overall = (is_projected(summary) ? "Projected: " : "Modelled: ") + text.overall;
}

// The answer that the document records of a projection; false where it has none.
bool add_recorded(VerdictText& text, const results::Document& document, const Summary& summary) {
  const auto& facts = document.sweep.context.custom;
  const auto answer = facts.find(kProjectedAnswer);
  if (answer == facts.end() || !is_projected(summary)) return false;
  const std::vector<std::string_view> lines = split(answer->second, '\n');
  if (lines.size() < 2) return false;
  text.overall = lines[0];
  text.limits = lines[1];
  text.workloads.assign(lines.begin() + 2, lines.end());
  return true;
}

}  // namespace

std::string speeds_text(const StrategyPair& pair, const std::string& dp, const std::string& ddp,
                        const std::string& evidence) {
  if (pair.ddp_verdict != stats::Verdict::kNotResolved) {
    const bool is_ddp = pair.ddp_verdict == stats::Verdict::kFaster;
    const stats::Estimate speed = lead_of(pair);
    return fmt::format("{} is {} as fast as {} ({}{})", is_ddp ? ddp : dp, times_text(speed.center),
                       is_ddp ? dp : ddp, interval_words(speed, pair.confidence), evidence);
  }
  const std::string interval = interval_words(pair.ddp_speed, pair.confidence);
  if (pair.equal_within) {
    return fmt::format("{} and {} are {} (speed ratio {:.2f}, {}{})", dp, ddp,
                       equal_text(*pair.equal_within), pair.ddp_speed.center, interval, evidence);
  }
  return fmt::format("{} against {} is not resolved: speed ratio {:.2f} ({}{}{})", ddp, dp,
                     pair.ddp_speed.center, interval, pair.ddp_speed.interval ? " holds 1" : "",
                     evidence);
}

std::vector<std::string> first_sentences(std::vector<std::string> sentences) {
  constexpr std::size_t kMost = 12;
  if (sentences.size() <= kMost) return sentences;
  const std::string further =
      fmt::format("{} further workloads stand in comparisons.csv.", sentences.size() - kMost);
  sentences.resize(kMost);
  sentences.push_back(further);
  return sentences;
}

VerdictText verdict(const results::Document& document, const Summary& summary) {
  VerdictText text;
  const std::vector<WorkloadPairs> workloads = workloads_of(summary);
  text.subject = subject(document, summary);
  text.notes = notes(document, summary);
  if (add_recorded(text, document, summary)) return text;
  if (const std::string sole = sole_implementation(summary); !sole.empty()) {
    std::tie(text.overall, text.workloads) = torch_answer(summary, sole);
  } else {
    const std::string torch = answering_implementation(summary);
    add_own(text, summary, workloads, torch);
    // What users run comes first; what explains it, behind.
    if (!torch.empty()) {
      const auto [overall, sentences] = torch_answer(summary, torch);
      text.overall = fmt::format("{} Tandem's own: {}", overall, text.overall);
      text.workloads.insert(text.workloads.begin(), sentences.begin(), sentences.end());
    }
  }
  std::vector<const StrategyPair*> pairs;
  for (const WorkloadPairs& workload : workloads) {
    pairs.insert(pairs.end(), workload.pairs.begin(), workload.pairs.end());
  }
  text.slower = slower_text(summary, pairs);
  const StrategyPair* shown = largest_lead(pairs);
  if (shown != nullptr) {
    text.lead_model = shown->ddp->cell.model;
    text.lead_batch = shown->ddp->cell.global_batch;
  } else if (const auto first = std::ranges::find_if(
                 pairs, [](const StrategyPair* pair) { return counts(*pair); });
             first != pairs.end()) {
    shown = *first;
  }
  if (shown != nullptr) text.steps = step_bars(*shown, summary);
  text.choices = choice_table(summary, pairs);
  text.tested = tested_text(summary);
  text.breaks = breaks_of(summary);
  return text;
}

}  // namespace tandem::reports
