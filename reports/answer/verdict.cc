// SPDX-License-Identifier: Apache-2.0
#include "reports/answer/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "reports/model/notes.h"
#include "reports/model/phases.h"
#include "reports/model/subject.h"
#include "reports/tables/break_even.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

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
         speeds_text(pair, dp, ddp, "", ", " + launches_text(pair)) +
         disturbed_words(pair, dp, ddp) + against_single(pair);
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

std::string overall_text(Tally& total, const std::vector<const StrategyPair*>& counted,
                         bool any_comparison) {
  const int ddp = total.verdicts[stats::Verdict::kFaster];
  const int dp = total.verdicts[stats::Verdict::kSlower];
  const int unresolved = total.verdicts[stats::Verdict::kNotResolved];
  const int all = ddp + dp + unresolved;
  if (all == 0 && any_comparison) {
    return "Only one device was measured, where dp and ddp have nothing to exchange: this says "
           "nothing about which one parallelises better.";
  }
  if (all == 0) return "dp and ddp were not both measured at any point: nothing to compare.";
  const std::string where =
      all == 1 ? "in the one comparison" : fmt::format("in all {} comparisons", all);
  const std::string devices = fmt::format("on {} devices", fmt::join(total.devices, " or "));
  const auto lead = [&](stats::Verdict winner) {
    return lead_text(counted, winner) + because(total.reasons[winner]);
  };
  const std::string why_ddp = lead(stats::Verdict::kFaster);
  const std::string why_dp = lead(stats::Verdict::kSlower);
  if (ddp == all) return fmt::format("ddp is faster than dp {} {}{}.", where, devices, why_ddp);
  if (dp == all) return fmt::format("dp is faster than ddp {} {}{}.", where, devices, why_dp);
  if (total.equal == all) return fmt::format("dp and ddp are equal {} {}.", where, devices);
  if (unresolved == all && total.equal == 0) {
    return fmt::format("dp against ddp is not resolved {} {}.", where, devices);
  }
  std::string rest = total.equal > 0 ? fmt::format("; both are equal in {}", total.equal) : "";
  if (unresolved > total.equal) {
    rest += fmt::format("; {} not resolved", unresolved - total.equal);
  }
  const auto count = [](int number) { return number == 0 ? "none" : std::to_string(number); };
  return fmt::format("Of {} comparisons of dp and ddp {}, ddp is faster in {}{}; dp in {}{}{}.",
                     all, devices, count(ddp), why_ddp, count(dp), why_dp, rest);
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
          fmt::format("{}, batch {}{}{}: dp and ddp were not both measured.", cell->cell.model,
                      cell->cell.global_batch, precision_suffix(cell->cell),
                      cell->modelled.empty() ? "" : " (modelled: " + cell->modelled + ")"));
    }
  }
  text.overall = overall_text(total, counted, std::ranges::any_of(summary.comparisons, is_own)) +
                 gain_text(counted);
  if (any_measured || summary.comparisons.empty()) return;
  text.overall = (is_projected(summary) ? "Projected: " : "Modelled: ") + text.overall;
}

}  // namespace

std::string speeds_text(const StrategyPair& pair, const std::string& dp, const std::string& ddp,
                        const std::string& where, const std::string& evidence) {
  if (pair.ddp_verdict != stats::Verdict::kNotResolved) {
    const bool is_ddp = pair.ddp_verdict == stats::Verdict::kFaster;
    const stats::Estimate speed = lead_of(pair);
    return fmt::format("{} is {} as fast as {}{} ({}{})", is_ddp ? ddp : dp,
                       times_text(speed.center), is_ddp ? dp : ddp, where,
                       interval_words(speed, pair.confidence), evidence);
  }
  const std::string interval = interval_words(pair.ddp_speed, pair.confidence);
  if (pair.equal_within) {
    return fmt::format("{} and {}{} are {} (speed ratio {:.2f}, {}{})", dp, ddp, where,
                       equal_text(*pair.equal_within), pair.ddp_speed.center, interval, evidence);
  }
  return fmt::format("{} against {}{} is not resolved: speed ratio {:.2f} ({}{}{})", ddp, dp, where,
                     pair.ddp_speed.center, interval, pair.ddp_speed.interval ? " holds 1" : "",
                     evidence);
}

std::vector<std::string> first_sentences(std::vector<std::string> sentences) {
  constexpr std::size_t kMost = 12;
  if (sentences.size() <= kMost) return sentences;
  const std::string further =
      fmt::format("{} further workloads stand in the break-even map.", sentences.size() - kMost);
  sentences.resize(kMost);
  sentences.push_back(further);
  return sentences;
}

VerdictText verdict(const results::Document& document, const Summary& summary) {
  VerdictText text;
  const std::vector<WorkloadPairs> workloads = workloads_of(summary);
  text.subject = subject(document, summary);
  if (const std::string sole = sole_implementation(summary); !sole.empty()) {
    text.overall = torch_overall(summary, sole);
    text.workloads = torch_sentences(summary, sole);
  } else {
    const std::string torch = answering_implementation(summary);
    add_own(text, summary, workloads, torch);
    // What users run comes first; what explains it, behind.
    if (!torch.empty()) {
      text.overall =
          fmt::format("{} Tandem's own: {}", torch_overall(summary, torch), text.overall);
      const std::vector<std::string> sentences = torch_sentences(summary, torch);
      text.workloads.insert(text.workloads.begin(), sentences.begin(), sentences.end());
    }
  }
  std::vector<const StrategyPair*> pairs;
  for (const WorkloadPairs& workload : workloads) {
    pairs.insert(pairs.end(), workload.pairs.begin(), workload.pairs.end());
  }
  text.slower = slower_text(pairs);
  if (const StrategyPair* lead = largest_lead(pairs)) {
    text.lead_model = lead->ddp->cell.model;
    text.lead_batch = lead->ddp->cell.global_batch;
  }
  text.choices = choice_table(summary, pairs);
  text.tested = tested_text(summary);
  text.breaks = breaks_of(summary);
  text.notes = notes(document, summary);
  return text;
}

std::string headline(const VerdictText& verdict) {
  return verdict.slower.empty() ? verdict.overall : verdict.slower + " " + verdict.overall;
}

}  // namespace tandem::reports
