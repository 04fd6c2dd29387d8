// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/break_even.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

using stats::Verdict;

// The conditions that separate lines, without the devices.
std::string conditions_of(const StrategyPair& pair) {
  std::string text = precision_suffix(pair.dp->cell);
  if (pair.dp->cell.backend != "host") text += ", " + pair.dp->cell.backend;
  if (pair.dp->mode != "synchronous") text += ", " + pair.dp->mode;
  if (!pair.dp->planted.empty()) text += ", planted: " + pair.dp->planted;
  if (!pair.dp->modelled.empty()) text += ", modelled: " + pair.dp->modelled;
  if (pair.dp->oversubscribed || pair.ddp->oversubscribed) text += ", oversubscribed";
  if (!is_plain(pair.dp->cell) || !is_plain(pair.ddp->cell)) {
    text += fmt::format(", {} / {}", strategy_label(pair.ddp->cell), strategy_label(pair.dp->cell));
  }
  return text;
}

// One point on a line along which the batch or the devices grow.
struct Stop {
  std::int64_t at = 0;
  Verdict verdict = Verdict::kNotResolved;
};

const char* winner(Verdict verdict) { return verdict == Verdict::kFaster ? "ddp" : "dp"; }

// Each change of the winner as "between batch 16 (dp) and 64 (ddp)"; unresolved points are passed
// over.
std::vector<std::string> changes(const std::vector<Stop>& stops, const std::string& what) {
  std::vector<std::string> found;
  const Stop* last = nullptr;
  for (const Stop& stop : stops) {
    if (stop.verdict == Verdict::kNotResolved) continue;
    if (last != nullptr && last->verdict != stop.verdict) {
      found.push_back(fmt::format("between {} {} ({} faster) and {} ({} faster)", what, last->at,
                                  winner(last->verdict), stop.at, winner(stop.verdict)));
    }
    last = &stop;
  }
  return found;
}

using Line = std::map<std::string, std::vector<Stop>>;  // the key is what stays fixed

void add_changes(std::vector<std::string>& lines, Line& line, const std::string& what) {
  for (auto& [fixed, stops] : line) {
    std::ranges::sort(stops, [](const Stop& a, const Stop& b) { return a.at < b.at; });
    for (const std::string& change : changes(stops, what)) {
      lines.push_back(fmt::format("{}: the break-even lies {}.", fixed, change));
    }
  }
}

std::vector<const StrategyPair*> counted(const Summary& summary) {
  const bool any_measured = std::ranges::any_of(summary.comparisons, [](const auto& pair) {
    return on_several_devices(pair) && pair.dp->modelled.empty();
  });
  std::vector<const StrategyPair*> found;
  for (const StrategyPair& pair : summary.comparisons) {
    const bool counts = (pair.dp->modelled.empty() || !any_measured) &&
                        !pair.dp->cell.is_pretended() && is_of_subject(pair, summary);
    if (on_several_devices(pair) && counts) found.push_back(&pair);
  }
  return found;
}

// What one GPU's step is good for, where no second one was there to exchange with: it is the
// --single-step of a projection; empty where anything else was measured.
std::string projecting_from_one(const Summary& summary) {
  const CellSummary* one = nullptr;
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0) continue;
    if (cell.cell.backend != "cuda" || cell.cell.devices > 1) return "";
    const bool is_named = cell.cell.model.find('#') == std::string::npos && is_plain(cell.cell);
    if (one == nullptr && is_named && cell.cell.strategy == "single") one = &cell;
  }
  if (one == nullptr) return "";
  const std::string precision = precision_of(one->cell);
  return fmt::format(
      "One GPU has no other to exchange with. `tandem project --model={}{} --batch-per-device={} "
      "--single-step={:.4g}ms --hardware=NAME` says what dp and ddp take on several such GPUs; "
      "`tandem list hardware` has the names.",
      one->cell.model, precision == "fp32" ? "" : " --precision=" + precision,
      one->cell.global_batch, 1e3 * one->median_step.center);
}

std::string range_text(const std::set<std::int64_t>& values) {
  if (values.size() == 1) return std::to_string(*values.begin());
  return fmt::format("{} to {}", *values.begin(), *values.rbegin());
}

}  // namespace

std::string tested_range(const Summary& summary) {
  std::set<std::int64_t> batches;
  std::set<std::int64_t> devices;
  std::set<std::string> models;
  for (const StrategyPair* pair : counted(summary)) {
    batches.insert(pair->dp->cell.global_batch);
    devices.insert(pair->dp->cell.devices);
    models.insert(pair->dp->cell.model);
  }
  if (batches.empty()) return "";
  return fmt::format("batch {}, {}, on {} devices", range_text(batches),
                     count_text(std::ssize(models), "model"), range_text(devices));
}

std::vector<std::string> break_even_lines(const Summary& summary) {
  Line over_batch;
  Line over_devices;
  for (const StrategyPair* pair : counted(summary)) {
    const results::Cell& cell = pair->dp->cell;
    const std::string conditions = conditions_of(*pair);
    over_batch[fmt::format("{} on {} devices{}", cell.model, cell.devices, conditions)].push_back(
        {cell.global_batch, pair->ddp_verdict});
    over_devices[fmt::format("{}, batch {}{}", cell.model, cell.global_batch, conditions)]
        .push_back({cell.devices, pair->ddp_verdict});
  }
  if (over_batch.empty()) return {};
  std::vector<std::string> lines;
  add_changes(lines, over_batch, "batch");
  add_changes(lines, over_devices, "devices");
  if (lines.empty()) {
    lines.push_back(fmt::format(
        "No break-even was found within the tested range ({}): no two resolved points that differ "
        "in the batch alone or in the devices alone have different winners.",
        tested_range(summary)));
  }
  return lines;
}

bool any_resolved(const Summary& summary) {
  return std::ranges::any_of(counted(summary), [](const StrategyPair* pair) {
    return pair->ddp_verdict != Verdict::kNotResolved;
  });
}

std::string deciding_sweep(const Summary& summary) {
  const std::vector<const StrategyPair*> pairs = counted(summary);
  if (pairs.empty() && !sole_implementation(summary).empty())
    return "";  // torch has no dp on a CPU
  const std::string from_one = projecting_from_one(summary);
  if (pairs.empty() && !from_one.empty()) return from_one;
  if (pairs.empty()) {
    return "Nothing here compares dp and ddp on several devices: finish a run that was cut short; "
           "else `tandem run quick` compares them.";
  }
  const auto open =
      std::ranges::count_if(pairs, [](const StrategyPair* pair) { return is_open(*pair); });
  if (open == 0 || is_projected(summary)) return "";  // simulated launches do not scatter
  return fmt::format(
      "{} cannot be decided from these launches: finish a run that is unfinished, else run the "
      "same sweep with --resolve and more --launches into a new folder, which goes on until they "
      "are decided, to six times as many at most; `tandem run batch` and `tandem run model-size` "
      "look for the break-even beyond the tested range.",
      pairs.size() == 1 ? "The one comparison"
                        : fmt::format("{} of {} comparisons", open, pairs.size()));
}

}  // namespace tandem::reports
