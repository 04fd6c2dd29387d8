// SPDX-License-Identifier: Apache-2.0
#include "reports/model/summary.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "common/base/text.h"
#include "common/base/units.h"
#include "common/options/strategies.h"
#include "common/results/disturbance.h"
#include "common/stats/comparison.h"
#include "common/stats/looks.h"
#include "common/stats/rounds.h"
#include "common/stats/summary.h"
#include "reports/model/notes.h"
#include "reports/model/phases.h"
#include "reports/model/projection.h"
#include "reports/model/subject.h"

namespace tandem::reports {

namespace {

using enum options::StrategyKind;

using results::LaunchRecord;
using results::Status;

constexpr std::string_view kLockWords = ", interpreter lock";

// The half width of a cell's interval, as a projection's document records it by strategy and number
// of devices, "dp:0.157:8,ddp:0.064:16".
std::optional<double> recorded_half_width(const results::Document& document,
                                          const results::Cell& cell) {
  const auto widths = document.sweep.context.custom.find(kHalfWidths);
  if (widths == document.sweep.context.custom.end()) return std::nullopt;
  std::optional<double> found;
  for (const std::string_view part : split(widths->second, ',')) {
    const std::vector<std::string_view> fields = split(part, ':');
    if (fields.size() < 3 || fields[0] != cell.strategy) continue;
    const auto beyond = fields.size() > 3 ? parse_number<int>(fields[3]) : 0;
    if (!beyond || cell.devices <= *beyond) continue;
    const auto width = parse_number<double>(fields[1]);
    const auto most_devices = parse_number<int>(fields[2]);
    if (!width || !most_devices || *most_devices < 1) return std::nullopt;
    found = projected_half_width(*width, cell.devices, *most_devices);
  }
  return found;
}

// Gives projected cells of several devices the intervals that their document records.
void fill_projected_intervals(std::vector<CellSummary>& cells, const results::Document& document) {
  for (CellSummary& cell : cells) {
    if (!cell.cell.is_simulated() || cell.cell.devices == 1 || cell.launches == 0) continue;
    cell.half_width = recorded_half_width(document, cell.cell);
    if (!cell.half_width) continue;
    // A described step of one device has an interval of its own, which ratios leave out.
    results::Cell one = cell.cell;
    one.strategy = "single";
    one.devices = 1;
    const double of_one = recorded_half_width(document, one).value_or(0);
    for (stats::Estimate* const figure : {&cell.median_step, &cell.mean_step, &cell.throughput}) {
      figure->interval = interval_around(figure->center, *cell.half_width, of_one);
    }
  }
}

// The order of a table: workloads first, then devices, then strategies from the bound to ddp.
auto order_of(const CellSummary& summary) {
  const results::Cell& cell = summary.cell;
  const options::StrategyTraits* const traits = options::find_strategy(cell.strategy);
  const std::ptrdiff_t rank =
      traits == nullptr ? std::ssize(options::kStrategies) : traits - options::kStrategies.data();
  const bool in_processes = cell.launch == "processes";  // threads before processes
  const auto texts = [](const auto&... text) { return std::tuple<decltype(text)...>(text...); };
  return std::tuple_cat(texts(cell.backend, cell.model),
                        std::tuple(cell.global_batch, cell.devices, rank), texts(cell.strategy),
                        std::tuple(in_processes), texts(cell.options, summary.mode));
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

void fill_figures(CellSummary& summary, const std::vector<const LaunchRecord*>& measured) {
  std::vector<double> means;
  std::vector<double> remainders;
  fill_medians(summary, measured);
  for (const LaunchRecord* record : measured) {
    means.push_back(stats::mean(record->step_seconds));
    remainders.push_back(record->remainder_seconds);
    if (record->joules_per_step) summary.joules.push_back(*record->joules_per_step);
    summary.samples += static_cast<long long>(record->step_seconds.size());
    summary.oversubscribed |= record->oversubscribed;
    const bool is_fewer = summary.devices_used == 0 || record->devices_used < summary.devices_used;
    if (record->devices_used > 0 && is_fewer) summary.devices_used = record->devices_used;
    if (!record->planted.empty()) summary.planted = record->planted;
    if (record->model.flops_per_sample > 0) {
      summary.flops_per_sample = record->model.flops_per_sample;
    }
    for (const std::string& warning : record->warnings) add_once(summary.warnings, warning);
  }
  summary.drift = stats::find_drift(summary.medians);
  summary.mean_step = stats::center_of_means(means);
  summary.throughput =
      stats::rate(static_cast<double>(summary.cell.global_batch), summary.mean_step);
  if (!summary.joules.empty()) summary.joules_per_step = stats::center_of_means(summary.joules);
  summary.phases = mean_phases(measured);
  if (!summary.phases.empty()) summary.remainder_seconds = stats::mean(remainders);
}

CellSummary summarize_cell(const std::vector<const LaunchRecord*>& launches) {
  CellSummary summary;
  summary.cell = launches.front()->cell;
  summary.mode = launches.front()->mode;
  summary.modelled = modelled_parts(*launches.front());
  std::vector<const LaunchRecord*> measured;
  for (const LaunchRecord* record : launches) {
    if (record->status == Status::kOk) {
      measured.push_back(record);
      continue;
    }
    summary.status = record->status;
    summary.reason = record->reason;
    if (record->status == Status::kFailed) ++summary.failed_launches;
  }
  const results::CountedLaunches counted = results::counted(measured);
  summary.launches = static_cast<int>(counted.launches.size());
  summary.disturbed_launches = counted.disturbed;
  summary.holds_disturbed = counted.holds_disturbed;
  if (measured.empty()) return summary;
  summary.status = Status::kOk;
  summary.measured = counted.launches;
  fill_figures(summary, counted.launches);
  return summary;
}

std::optional<stats::Estimate> against_single(const CellSummary& summary, std::int64_t batch,
                                              const std::vector<CellSummary>& cells) {
  const CellSummary* baseline = baseline_of(summary, batch, cells);
  if (baseline == nullptr) return std::nullopt;
  return ratio_of(*baseline, summary);
}

void fill_speedups(std::vector<CellSummary>& cells) {
  for (CellSummary& summary : cells) {
    const results::Cell& cell = summary.cell;
    if (summary.launches == 0 || cell.strategy == name_of(kSingle) || cell.is_pretended()) continue;
    summary.speedup = against_single(summary, cell.global_batch, cells);
    if (cell.global_batch % cell.devices != 0) continue;
    summary.weak_efficiency = against_single(summary, cell.global_batch / cell.devices, cells);
  }
}

// The peak belongs to the machine: only launches before its measurement lack the peak, so all cells
// get the peak that any launch has.
void fill_peaks(std::vector<CellSummary>& cells, const std::vector<LaunchRecord>& launches) {
  std::map<std::pair<std::string, std::string>, double> peaks;  // by back end and precision
  for (const LaunchRecord& record : launches) {
    if (record.peak_gflops == 0) continue;
    peaks.try_emplace({record.cell.backend, record.precision}, record.peak_gflops);
  }
  for (CellSummary& summary : cells) {
    const auto found = peaks.find({summary.cell.backend, precision_of(summary.cell)});
    const bool is_of_all_products = !has_tf32_convolutions(summary);
    if (found != peaks.end() && is_of_all_products) summary.peak_gflops = found->second;
  }
}

// The one back end that measured, or "" where several did. Launches that never began carry the
// requested "auto" and belong to that back end.
std::string only_backend(const std::vector<LaunchRecord>& launches) {
  std::string found;
  for (const LaunchRecord& record : launches) {
    if (record.status != Status::kOk || record.cell.backend == found) continue;
    if (!found.empty()) return "";
    found = record.cell.backend;
  }
  return found;
}

// Whether `few` has fewer options than `many`, with the same values.
bool is_subset(const results::Cell& few, const results::Cell& many) {
  return few.options.size() < many.options.size() &&
         std::includes(many.options.begin(), many.options.end(), few.options.begin(),
                       few.options.end());
}

// Whether no measured variant with fewer options exists. Other variants of dp and ddp are not
// compared, since the folder of `tandem explain` holds many of them.
bool is_plainest(const CellSummary& summary, const std::vector<CellSummary>& cells) {
  const auto near = of_same_workload(cells, summary.cell);
  return std::ranges::none_of(near, [&](const CellSummary& other) {
    return other.cell.strategy == summary.cell.strategy && other.launches > 0 &&
           same_point(other, summary) && is_subset(other.cell, summary.cell);
  });
}

// Whether the cell measured, is the plain strategy, and has no planted delay, whose figure fits no
// machine.
bool is_comparable(const CellSummary& summary, options::StrategyKind strategy,
                   const std::vector<CellSummary>& cells) {
  return summary.cell.strategy == name_of(strategy) && summary.launches > 0 &&
         !summary.cell.options.contains("plant") && is_plainest(summary, cells);
}

// The looks at each comparison.
stats::Looks looks_of(const results::Resolving& resolving) {
  return {.first = resolving.first_round,
          .last = resolving.last_round,
          .level = stats::kShareForFewRounds * (1 - stats::kConfidence) / resolving.comparisons};
}

// The intervals of comparisons: each stands alone, or, in a resolving sweep, all hold at all looks
// together.
class VerdictRule {
 public:
  explicit VerdictRule(const std::optional<results::Resolving>& resolving) : resolving_(resolving) {
    if (resolving_) levels_ = stats::levels_of_looks(looks_of(*resolving_));
  }

  [[nodiscard]] StrategyPair judge(const CellSummary& dp, const CellSummary& ddp) const {
    StrategyPair pair;
    pair.dp = &dp;
    pair.ddp = &ddp;
    const bool is_looked_at = resolving_ && on_several_devices(pair);
    // A round whose launch was disturbed is a look as well, so that none is taken twice.
    const int round = std::min(dp.all_measured(), ddp.all_measured());
    if (is_looked_at) pair.confidence = 1 - level(round);
    if (dp.half_width || ddp.half_width) pair.confidence = kProjectedConfidence;
    pair.ddp_speed = ratio_of(dp, ddp, pair.confidence);
    if (is_looked_at && round < resolving_->first_round) return pair;
    pair.ddp_verdict = stats::judge(pair.ddp_speed);
    if (is_looked_at &&
        stats::judge_change(pair.ddp_speed, resolving_->ratio) == stats::Change::kSame) {
      pair.equal_within = resolving_->ratio;
    }
    return pair;
  }

 private:
  [[nodiscard]] double level(int round) const {
    const int look = std::clamp(round, resolving_->first_round, resolving_->last_round);
    return levels_[static_cast<std::size_t>(look - resolving_->first_round)];
  }

  std::optional<results::Resolving> resolving_;
  std::vector<double> levels_;
};

std::vector<StrategyPair> compare(const std::vector<CellSummary>& cells, const VerdictRule& rule) {
  std::vector<StrategyPair> comparisons;
  for (const CellSummary& dp : cells) {
    if (!is_comparable(dp, kDp, cells)) continue;
    for (const CellSummary& ddp : of_same_workload(cells, dp.cell)) {
      if (!is_comparable(ddp, kDdp, cells) || !same_point(dp, ddp)) continue;
      comparisons.push_back(rule.judge(dp, ddp));
    }
  }
  return comparisons;
}

// Whether one implementation trains by the same step on each device, however devices exchange.
bool is_same_step(const results::Cell& a, const results::Cell& b) {
  constexpr std::array kOptions{kImplementation, "optimizer", "fused",     "conv-fp32",
                                "channels-last", "read-loss", "accumulate"};
  return std::ranges::all_of(kOptions, [&](const char* option) {
    return question_value(a, option) == question_value(b, option);
  });
}

}  // namespace

int CellSummary::all_measured() const {
  return holds_disturbed ? launches : launches + disturbed_launches;
}

std::optional<stats::Estimate> CellSummary::efficiency() const {
  if (!speedup) return std::nullopt;
  return stats::divided(*speedup, cell.devices);
}

bool CellSummary::efficiency_above_one() const {
  const std::optional<stats::Estimate> found = efficiency();
  return found && found->interval && found->interval->low > 1;
}

std::optional<double> CellSummary::device_gflops() const {
  if (launches == 0 || flops_per_sample == 0) return std::nullopt;
  return throughput.center * flops_per_sample / cell.devices / 1e9;
}

std::optional<double> CellSummary::peak_share() const {
  const std::optional<double> achieved = device_gflops();
  if (!achieved || peak_gflops == 0 || oversubscribed) return std::nullopt;
  return *achieved / peak_gflops;
}

double CellSummary::remainder_share() const {
  return launches == 0 ? 0 : remainder_seconds / mean_step.center;
}

void fill_medians(CellSummary& summary, const std::vector<const LaunchRecord*>& measured) {
  for (const LaunchRecord* record : measured) {
    summary.medians.push_back(stats::median(record->step_seconds));
    summary.rounds.push_back(record->launch_index);
  }
  summary.median_step = stats::center_in_rounds(summary.medians);
}

stats::Estimate ratio_of(const CellSummary& numerator, const CellSummary& denominator,
                         double confidence) {
  if (numerator.half_width || denominator.half_width) {
    stats::Estimate ratio = stats::ratio_by_t(numerator.medians, denominator.medians);
    ratio.interval = interval_around(ratio.center, numerator.half_width.value_or(0),
                                     denominator.half_width.value_or(0));
    return ratio;
  }
  return stats::ratio_in_rounds({.values = numerator.medians, .rounds = numerator.rounds},
                                {.values = denominator.medians, .rounds = denominator.rounds},
                                confidence);
}

std::span<const CellSummary> of_same_workload(std::span<const CellSummary> cells,
                                              const results::Cell& cell) {
  const auto place = [](const results::Cell& of) {
    return std::tie(of.backend, of.model, of.global_batch);
  };
  const auto first = std::partition_point(
      cells.begin(), cells.end(),
      [&](const CellSummary& other) { return place(other.cell) < place(cell); });
  const auto last = std::partition_point(first, cells.end(), [&](const CellSummary& other) {
    return place(other.cell) == place(cell);
  });
  return {first, last};
}

stats::Estimate lead_of(const StrategyPair& pair) {
  return pair.ddp_verdict == stats::Verdict::kSlower ? stats::rate(1, pair.ddp_speed)
                                                     : pair.ddp_speed;
}

bool on_several_devices(const StrategyPair& pair) { return pair.dp->cell.devices > 1; }

bool is_shown_equal(const StrategyPair& pair) {
  return pair.ddp_verdict == stats::Verdict::kNotResolved && pair.equal_within;
}

bool is_open(const StrategyPair& pair) {
  return pair.ddp_verdict == stats::Verdict::kNotResolved && !pair.equal_within;
}

std::string models_but_lock(const CellSummary& summary) {
  std::string models = summary.modelled;
  const std::size_t at = models.find(kLockWords);
  if (summary.cell.is_simulated() && at != std::string::npos) models.erase(at, kLockWords.size());
  return models;
}

std::string modelled_mark(const CellSummary& summary) {
  const std::string hardware = summary.cell.option("hardware");
  if (!summary.cell.is_simulated() || hardware.empty()) {
    return summary.modelled.empty() ? "" : "modelled: " + summary.modelled;
  }
  return "projected on " + hardware.substr(0, hardware.find('#'));
}

bool same_point(const CellSummary& a, const CellSummary& b) {
  return a.cell.model == b.cell.model && a.cell.global_batch == b.cell.global_batch &&
         a.cell.devices == b.cell.devices && a.cell.backend == b.cell.backend && a.mode == b.mode &&
         models_but_lock(a) == models_but_lock(b) && same_question(a.cell, b.cell);
}

Summary summarize(const results::Document& document) {
  // Modes never share a figure, since a step without a barrier is another quantity.
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<const LaunchRecord*>>
      groups;
  const std::string measured = only_backend(document.launches);
  for (const LaunchRecord& record : document.launches) {
    const bool resolved = record.cell.backend != "auto" || measured.empty();
    const std::string& backend = resolved ? record.cell.backend : measured;
    groups[{record.cell.name(), backend, record.mode}].push_back(&record);
  }
  Summary summary;
  for (const auto& [key, launches] : groups) {
    summary.cells.push_back(summarize_cell(launches));
    summary.cells.back().cell.backend = std::get<1>(key);
  }
  std::ranges::sort(summary.cells,
                    [](const auto& a, const auto& b) { return order_of(a) < order_of(b); });
  fill_projected_intervals(summary.cells, document);
  fill_speedups(summary.cells);
  fill_peaks(summary.cells, document.launches);
  summary.comparisons = compare(summary.cells, VerdictRule(document.sweep.resolving));
  return summary;
}

bool is_projected(const Summary& summary) {
  return !summary.cells.empty() && std::ranges::all_of(summary.cells, [](const CellSummary& cell) {
    return cell.cell.is_simulated();
  });
}

bool is_of_host_work(const Summary& summary) {
  bool any = false;
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0) continue;
    if (!cell.cell.is_pretended()) return false;
    any = true;
  }
  return any;
}

const CellSummary* baseline_of(const CellSummary& summary, std::int64_t batch,
                               const std::vector<CellSummary>& cells) {
  results::Cell place = summary.cell;
  place.global_batch = batch;
  const CellSummary* best = nullptr;
  for (const CellSummary& other : of_same_workload(cells, place)) {
    if (other.cell.strategy != name_of(kSingle) || other.launches == 0) continue;
    if (other.mode != summary.mode || models_but_lock(other) != models_but_lock(summary) ||
        other.planted != summary.planted ||
        precision_of(other.cell) != precision_of(summary.cell) ||
        is_replayed(other.cell) != is_replayed(summary.cell) ||
        !is_same_step(other.cell, summary.cell)) {
      continue;
    }
    if (best == nullptr || is_plain(other.cell) > is_plain(best->cell)) best = &other;
  }
  return best;
}

}  // namespace tandem::reports
