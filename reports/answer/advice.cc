// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "common/options/strategies.h"
#include "reports/answer/verdict.h"
#include "reports/model/phases.h"
#include "reports/model/subject.h"
#include "reports/tables/break_even.h"
#include "reports/tables/cells.h"
#include "reports/tables/ddp.h"

namespace tandem::reports {
namespace {

using enum options::StrategyKind;

// A smaller share of a step is not worth a sentence.
constexpr double kWorthSaying = 0.05;
// A root with less than this ratio over the others' mean has no notable burden.
constexpr double kBurden = 1.1;
constexpr std::size_t kMostLimits = 6;

// Whether a single device has the phase too, so that the phase is no cost of parallelism.
bool is_own_work(std::string_view phase) {
  constexpr std::array<std::string_view, 6> kOwn{"input",    "forward", "loss",
                                                 "backward", "update",  "zero_grad"};
  return std::ranges::find(kOwn, phase) != kOwn.end();
}

// The longest of the phases that parallelism adds.
const PhaseMean* limiting_phase(const CellSummary& cell) {
  const PhaseMean* most = nullptr;
  for (const PhaseMean& phase : cell.phases) {
    if (is_own_work(phase.name)) continue;
    if (most == nullptr || phase.seconds > most->seconds) most = &phase;
  }
  return most;
}

double share_of(const PhaseMean& phase, const CellSummary& cell) {
  return cell.mean_step.center > 0 ? phase.seconds / cell.mean_step.center : 0;
}

std::string limit_text(const CellSummary& cell) {
  const PhaseMean* phase = limiting_phase(cell);
  if (phase == nullptr) return "";
  const double share = share_of(*phase, cell);
  const std::string name = strategy_label(cell.cell);
  if (share < kWorthSaying) {
    return fmt::format(
        "{} is limited by its own computing (nothing that parallelism adds takes {:.0f} % of the "
        "step)",
        name, 100 * kWorthSaying);
  }
  return fmt::format("{} is limited by {}: {}, {:.0f} % of its step", name, phase->name,
                     doing_in(phase->name), 100 * share);
}

// Comparisons at each workload's largest device count.
std::vector<const StrategyPair*> largest(const Summary& summary) {
  std::map<
      std::tuple<std::string, std::string, std::int64_t, std::string, std::string, std::string>,
      const StrategyPair*>
      by_workload;
  for (const StrategyPair& pair : summary.comparisons) {
    const results::Cell& cell = pair.dp->cell;
    if (cell.devices < 2 || cell.is_pretended() || !is_of_subject(pair, summary)) continue;
    const StrategyPair*& found = by_workload[{pair.dp->modelled, cell.model, cell.global_batch,
                                              cell.backend, precision_of(cell), pair.dp->mode}];
    if (found == nullptr || cell.devices > found->dp->cell.devices) found = &pair;
  }
  std::vector<const StrategyPair*> pairs;
  for (const auto& [key, pair] : by_workload) pairs.push_back(pair);
  return pairs;
}

std::string point_of(const CellSummary& cell) {
  const std::string text = point_text(cell.cell) + precision_suffix(cell.cell);
  const std::string mark = modelled_mark(cell);
  return mark.empty() ? text : text + " (" + mark + ")";
}

void add_limits(std::vector<Advice>& list, const std::vector<const StrategyPair*>& pairs) {
  std::size_t limits = 0;
  for (const StrategyPair* pair : pairs) {
    const std::string dp = limit_text(*pair->dp);
    const std::string ddp = limit_text(*pair->ddp);
    if (dp.empty() || ddp.empty()) continue;
    if (++limits > kMostLimits) continue;
    list.push_back({fmt::format("{}: {}; {}.", point_of(*pair->dp), dp, ddp), kPhaseTimes, true});
  }
  if (limits > kMostLimits) {
    list.push_back({fmt::format("What limits {} further workloads stands in the table of phases.",
                                limits - kMostLimits),
                    kPhaseTimes, true});
  }
}

// What ddp may try against the time of one of its phases.
struct Remedy {
  std::string_view phase;
  std::string_view backend;  // empty: on any
  std::string_view option;
  std::string_view cost;  // "copying ... takes"
};
constexpr std::array kRemedies{
    Remedy{"bucket_copy", "", "--grads=views (torch: gradient_as_bucket_view=True)",
           "copying gradients between their own memory and buckets"},
    Remedy{"exposed_comm", "cuda", "--comm-priority=high (torch: is_high_priority_stream=True)",
           "waiting for gradients to be exchanged"}};

// Whether the cell's collectives are NCCL's, and neither one of its options names them already nor
// takes another way.
bool can_take(const Remedy& remedy, const results::Cell& cell) {
  if (remedy.backend.empty()) return true;
  constexpr std::array kElse{"comm", "comm-priority", "reducer"};
  return cell.backend == remedy.backend && std::ranges::none_of(kElse, [&](const char* option) {
           return cell.options.contains(option);
         });
}

// Advises on the cell of ddp that spends the largest share of its step on what a remedy is against.
void add_remedies(std::vector<Advice>& list, const std::vector<const StrategyPair*>& pairs) {
  for (const Remedy& remedy : kRemedies) {
    const CellSummary* worst = nullptr;
    double most = kWorthSaying;
    for (const StrategyPair* pair : pairs) {
      const CellSummary& ddp = *pair->ddp;
      if (!can_take(remedy, ddp.cell)) continue;
      for (const PhaseMean& phase : ddp.phases) {
        if (phase.name != remedy.phase || share_of(phase, ddp) < most) continue;
        most = share_of(phase, ddp);
        worst = &ddp;
      }
    }
    if (worst == nullptr) continue;
    list.push_back({fmt::format("Try {}: {} takes up to {:.0f} % of a step of ddp ({}).",
                                remedy.option, remedy.cost, 100 * most, point_of(*worst)),
                    kPhaseTimes});
  }
}

void add_buckets(std::vector<Advice>& list, const Summary& summary) {
  for (const BucketCurve& curve : bucket_curves(summary)) {
    const BucketCurve::Point& best = curve.best();
    const BucketCurve::Point* usual = curve.usual();
    std::string text =
        fmt::format("{}: the fastest bucket size measured is {}", curve.title,
                    best.cap == "all" ? "one bucket for all gradients" : best.cap + " MiB");
    if (usual == nullptr || usual == &best) {
      text += usual == nullptr ? "; the default of 25 MiB was not measured." : ", the default.";
    } else {
      text += curve.best_is_resolved()
                  ? ", faster than the default of 25 MiB."
                  : "; that it is faster than the default of 25 MiB is not resolved.";
    }
    list.push_back({text, kCells});
  }
}

void add_idle_devices(std::vector<Advice>& list, const Summary& summary) {
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0 || cell.devices_used == 0) continue;
    if (cell.devices_used >= cell.cell.devices || cell.cell.strategy != name_of(kDp)) continue;
    list.push_back({fmt::format("{}: dp uses {} of them: torch hands out pieces of ceil(batch / "
                                "devices) samples until none is left. Use a batch that the devices "
                                "divide.",
                                point_of(cell), cell.devices_used),
                    kCells});
  }
}

void add_root_memory(std::vector<Advice>& list, const std::vector<const StrategyPair*>& pairs) {
  const CellSummary* worst = nullptr;
  double most = kBurden;
  for (const StrategyPair* pair : pairs) {
    const std::optional<double> burden = root_burden(peak_memory(*pair->dp));
    if (!burden || *burden < most) continue;
    most = *burden;
    worst = pair->dp;
  }
  if (worst == nullptr) return;
  list.push_back({fmt::format("dp's device 0 needs up to {:.1f} times the memory of the others "
                              "({}): it, not their sum, limits the batch.",
                              most, point_of(*worst)),
                  kMemory, true});
}

}  // namespace

std::vector<Advice> advice(const Summary& summary) {
  std::vector<Advice> list;
  const std::vector<const StrategyPair*> pairs = largest(summary);
  add_limits(list, pairs);
  add_remedies(list, pairs);
  add_buckets(list, summary);
  add_idle_devices(list, summary);
  add_root_memory(list, pairs);
  const std::string open = deciding_sweep(summary);
  if (!open.empty()) list.push_back({open, kComparisons});
  return list;
}

}  // namespace tandem::reports
