// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "common/base/units.h"
#include "common/options/strategies.h"
#include "common/stats/comparison.h"
#include "reports/answer/verdict.h"
#include "reports/model/notes.h"
#include "reports/model/subject.h"
#include "reports/tables/cells.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

using enum options::StrategyKind;

// What is known of a workload on some devices; the cells are the plain ones.
struct Point {
  const CellSummary* ddp = nullptr;
  const CellSummary* bound = nullptr;          // independent
  const StrategyPair* pair = nullptr;          // with DataParallel
  std::vector<const CellSummary*> variants{};  // of DistributedDataParallel, with further options
};

// "PyTorch 2.15.0" of "torch-2.15.0".
std::string spoken_implementation(const std::string& name) {
  return "PyTorch " + name.substr(name.find('-') + 1);
}

// "own.py:build, batch 8 (4 per device), bf16".
std::string spoken_workload(const results::Cell& cell) {
  const std::string share = cell.global_batch % cell.devices == 0 && cell.devices > 1
                                ? fmt::format(" ({} per device)", cell.global_batch / cell.devices)
                                : "";
  return fmt::format("{}, batch {}{}{}", spoken_model(cell), cell.global_batch, share,
                     precision_suffix(cell));
}

// The cell's options, without those that its workload has: "grads=views, bucket-mb=10".
std::string spoken_options(const results::Cell& cell) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : cell.options) {
    if (name != kImplementation && name != "precision") parts.push_back(name + "=" + value);
  }
  return join(parts, ", ");
}

std::string with_options(std::string strategy, const results::Cell& cell) {
  const std::string options = spoken_options(cell);
  return options.empty() ? strategy : strategy + " (" + options + ")";
}

// "The host's work of a step is 1.80 times as long under DataParallel as under ...": devices that
// are not there make no step fast.
std::string spoken_host_work(const StrategyPair& pair, const std::string& dp,
                             const std::string& ddp) {
  if (pair.ddp_verdict == stats::Verdict::kNotResolved) {
    return fmt::format("the host's work of a step under {} against {} is {}: ratio {}", dp, ddp,
                       pair.equal_within ? equal_text(*pair.equal_within) : "not resolved",
                       ratio_text(pair.ddp_speed));
  }
  const bool is_dp = pair.ddp_verdict == stats::Verdict::kFaster;
  const stats::Estimate ratio = lead_of(pair);
  return fmt::format("the host's work of a step is {} as long under {} as under {} ({})",
                     times_text(ratio.center), is_dp ? dp : ddp, is_dp ? ddp : dp,
                     interval_words(ratio, pair.confidence));
}

// "DistributedDataParallel is 1.80 times as fast as DataParallel (95 % interval ..)".
std::string spoken_comparison(const StrategyPair& pair) {
  const std::string dp = with_options("DataParallel", pair.dp->cell);
  const std::string ddp = with_options("DistributedDataParallel", pair.ddp->cell);
  return (pair.ddp->cell.is_pretended() ? spoken_host_work(pair, dp, ddp)
                                        : speeds_text(pair, dp, ddp, "")) +
         disturbed_words(pair, dp, ddp);
}

bool is_plain_ddp(const CellSummary& cell, const Summary& summary) {
  return std::ranges::none_of(summary.cells, [&](const CellSummary& other) {
    return other.launches > 0 && other.cell.strategy == cell.cell.strategy &&
           same_point(other, cell) && other.cell.options.size() < cell.cell.options.size();
  });
}

bool is_several_of_ddp(const CellSummary& cell, const std::string& implementation) {
  return cell.cell.strategy == name_of(kDdp) && cell.launches > 0 && cell.cell.devices > 1 &&
         implementation_of(cell.cell) == implementation;
}

Point point_of(const CellSummary& ddp, const Summary& summary) {
  Point point{.ddp = &ddp};
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0 || &cell == &ddp || !same_point(cell, ddp)) continue;
    if (cell.cell.strategy == name_of(kIndependent)) point.bound = &cell;
    if (cell.cell.strategy == name_of(kDdp)) point.variants.push_back(&cell);
  }
  for (const StrategyPair& pair : summary.comparisons) {
    if (pair.ddp == &ddp) point.pair = &pair;
  }
  return point;
}

// A workload whatever its batch.
auto question_of(const CellSummary& ddp) {
  const results::Cell& cell = ddp.cell;
  return std::tuple(cell.model, ddp.mode, spoken_options(cell) + precision_suffix(cell));
}

double share_of(const CellSummary& ddp) {
  return static_cast<double>(ddp.cell.global_batch) / ddp.cell.devices;
}

// Points on the most devices come first.
std::vector<Point> points_of(const Summary& summary, const std::string& implementation) {
  std::map<std::tuple<int, decltype(question_of(summary.cells.front())), std::int64_t>, Point>
      sorted;
  for (const CellSummary& cell : summary.cells) {
    if (!is_several_of_ddp(cell, implementation) || !is_plain_ddp(cell, summary)) continue;
    sorted.try_emplace({-cell.cell.devices, question_of(cell), cell.cell.global_batch},
                       point_of(cell, summary));
  }
  std::vector<Point> points;
  for (auto& [key, point] : sorted) points.push_back(std::move(point));
  return points;
}

bool has_pair(const Point& point) { return point.pair != nullptr; }

// The points that decide: on the most devices with a comparison, else on the most devices.
std::vector<Point> deciding_of(std::vector<Point> points) {
  if (points.empty()) return points;
  const auto pair = std::ranges::find_if(points, has_pair);
  const int devices = (pair == points.end() ? points.front() : *pair).ddp->cell.devices;
  std::erase_if(points, [&](const Point& point) { return point.ddp->cell.devices != devices; });
  return points;
}

// The batch that stayed while a sweep took more devices: the global one, or the share of each
// device, where a question's points have fewer different shares than batches.
double held_batch(const std::vector<Point>& points, const CellSummary& ddp) {
  std::set<std::int64_t> batches;
  std::set<double> shares;
  for (const Point& point : points) {
    if (question_of(*point.ddp) != question_of(ddp)) continue;
    batches.insert(point.ddp->cell.global_batch);
    shares.insert(share_of(*point.ddp));
  }
  return shares.size() < batches.size() ? share_of(ddp)
                                        : static_cast<double>(ddp.cell.global_batch);
}

// The points that get a sentence: all on the most devices, and each workload's comparison on the
// most devices that it has one on.
std::vector<Point> spoken_of(const std::vector<Point>& points) {
  std::vector<Point> spoken;
  std::set<std::pair<decltype(question_of(*points.front().ddp)), double>> compared;
  for (const Point& point : points) {
    const CellSummary& ddp = *point.ddp;
    const bool speaks = has_pair(point)
                            ? compared.insert({question_of(ddp), held_batch(points, ddp)}).second
                            : ddp.cell.devices == points.front().ddp->cell.devices;
    if (speaks) spoken.push_back(point);
  }
  return spoken;
}

// Whether DataParallel was tried on several devices.
bool is_dp_of(const CellSummary& cell, const std::string& implementation) {
  return cell.cell.strategy == name_of(kDp) && cell.cell.devices > 1 &&
         implementation_of(cell.cell) == implementation;
}

// Why there is no comparison; reasons of single cells stand in the notes.
std::string without_dp(const Summary& summary, const std::string& implementation) {
  const bool was_tried = std::ranges::any_of(
      summary.cells, [&](const CellSummary& cell) { return is_dp_of(cell, implementation); });
  return was_tried ? "DataParallel was tried, and left no figure of such a step."
                   : "DataParallel was not measured.";
}

// The text ", 1.40x [..] the host's work of independent processes".
std::string host_work_against_bound(const Point& point) {
  if (point.bound == nullptr) return "";
  return fmt::format(", {} the host's work of independent processes",
                     ratio_text(ratio_of(*point.ddp, *point.bound)));
}

// The text ", 1.40x [..] the speed of one process (single), 0.87x [..] that of ...".
std::string against_bounds(const Point& point) {
  if (point.ddp->cell.is_pretended()) return host_work_against_bound(point);
  std::vector<std::string> parts;
  if (point.ddp->speedup) {
    parts.push_back(ratio_text(*point.ddp->speedup) + " the speed of one process (single)");
  }
  if (point.bound != nullptr) {
    const stats::Estimate share = ratio_of(*point.bound, *point.ddp);
    parts.push_back(ratio_text(share) +
                    " that of independent processes, which send nothing (the bound)");
  }
  return parts.empty() ? "" : ", " + join(parts, ", ");
}

// The fastest variant that is faster than the plain cell beyond doubt; empty where there is none.
std::string best_variant(const Point& point) {
  const CellSummary* best = nullptr;
  std::optional<stats::Estimate> most;
  for (const CellSummary* variant : point.variants) {
    const stats::Estimate gain = ratio_of(*point.ddp, *variant);
    if (stats::judge(gain) != stats::Verdict::kFaster) continue;
    if (most && gain.center <= most->center) continue;
    best = variant;
    most = gain;
  }
  if (best == nullptr) return "";
  const char* const less = best->cell.is_pretended() ? "Less host work" : "Faster still";
  return fmt::format(" {} with {}: {}.", less, spoken_options(best->cell), ratio_text(*most));
}

std::string spoken_sentence(const Point& point) {
  const results::Cell& cell = point.ddp->cell;
  const std::string where =
      fmt::format("{}, {}", spoken_workload(cell), count_text(cell.devices, "device"));
  const std::string marks = point.ddp->oversubscribed ? " (oversubscribed)" : "";
  const char* const takes = cell.is_pretended() ? "takes the host" : "takes";
  const std::string pair = point.pair == nullptr ? "" : spoken_comparison(*point.pair) + ". ";
  return fmt::format("{}{}: {}{} {} {} a step{}.{}", where, marks, pair,
                     with_options("DistributedDataParallel", cell), takes,
                     duration_text(point.ddp->median_step), against_bounds(point),
                     best_variant(point));
}

std::string on_devices(const Point& point) {
  return fmt::format("on {}", count_text(point.ddp->cell.devices, "device"));
}

// How many of the points fell each way, as "faster in 2, slower in 1; not resolved: 0". `equal` of
// those that are not resolved are equal within a ratio.
std::string tally_text(const std::vector<stats::Verdict>& verdicts, std::ptrdiff_t equal,
                       const char* faster, const char* slower) {
  const auto count = [&](stats::Verdict verdict) { return std::ranges::count(verdicts, verdict); };
  return fmt::format("{} in {}, {} in {}{}; not resolved: {}", faster,
                     count(stats::Verdict::kFaster), slower, count(stats::Verdict::kSlower),
                     equal > 0 ? fmt::format(", equal in {}", equal) : "",
                     count(stats::Verdict::kNotResolved) - equal);
}

std::string overall_of_pairs(const std::vector<Point>& points) {
  std::vector<stats::Verdict> verdicts;
  std::ptrdiff_t equal = 0;
  for (const Point& point : points) {
    if (point.pair == nullptr) continue;
    verdicts.push_back(point.pair->ddp_verdict);
    if (is_shown_equal(*point.pair)) ++equal;
  }
  const bool is_of_work = points.front().ddp->cell.is_pretended();
  return fmt::format("of {} comparisons with DataParallel {}, {} is {}.", verdicts.size(),
                     on_devices(points.front()),
                     is_of_work ? "the host's work of a step under DistributedDataParallel"
                                : "DistributedDataParallel",
                     is_of_work ? tally_text(verdicts, equal, "less", "more")
                                : tally_text(verdicts, equal, "faster", "slower"));
}

std::string overall_of_speedups(const std::vector<Point>& points) {
  std::vector<stats::Verdict> verdicts;
  for (const Point& point : points) {
    if (point.ddp->speedup) verdicts.push_back(stats::judge(*point.ddp->speedup));
  }
  if (verdicts.empty())
    return "DistributedDataParallel was measured, and no single process beside it.";
  return fmt::format("of {} comparisons of DistributedDataParallel {} with one process, it is {}.",
                     verdicts.size(), on_devices(points.front()),
                     tally_text(verdicts, 0, "faster", "slower"));
}

// All points in a sentence; of a sole point: its own sentence.
std::string overall_of(const std::vector<Point>& points) {
  if (points.empty())
    return "DistributedDataParallel was not measured on several devices: nothing to compare.";
  if (points.size() == 1) return spoken_sentence(points.front());
  return std::ranges::any_of(points, has_pair) ? overall_of_pairs(points)
                                               : overall_of_speedups(points);
}

// Whether both are at one point, whatever was measured of them: a cell that does not fit has no
// mode.
bool is_same_workload(const CellSummary& a, const CellSummary& b) {
  return a.cell.model == b.cell.model && a.cell.global_batch == b.cell.global_batch &&
         a.cell.devices == b.cell.devices && same_question(a.cell, b.cell);
}

// The most memory that a device of the cell took, in bytes; 0: not recorded.
std::int64_t most_memory(const CellSummary& cell) {
  const std::vector<std::int64_t> peaks = peak_memory(cell);
  return peaks.empty() ? 0 : std::ranges::max(peaks);
}

// "fsdp 9.2 ms (1.51x [1.30 .. 1.70] of ddp's), 30.0 MiB (0.68x)", or that it does not fit.
std::string cost_words(const CellSummary& cell, const CellSummary* ddp) {
  const std::string name = with_options(cell.cell.strategy, cell.cell);
  if (cell.launches == 0) {
    const bool is_memory = cell.reason.find("out of memory") != std::string::npos;
    if (is_memory) return name + " does not fit";
    return fmt::format("{} was not measured ({})", name,
                       cell.reason.substr(0, cell.reason.find(';')));
  }
  const bool is_compared = ddp != nullptr && ddp != &cell && ddp->launches > 0;
  std::string text = name + " " + duration_text(cell.median_step);
  if (is_compared) text += fmt::format(" ({} of ddp's)", ratio_text(ratio_of(cell, *ddp)));
  const std::int64_t memory = most_memory(cell);
  if (memory == 0) return text;
  text += ", " + to_string(Bytes{memory});
  if (!is_compared || most_memory(*ddp) == 0) return text;
  return text + fmt::format(" ({:.2f}x)",
                            static_cast<double>(memory) / static_cast<double>(most_memory(*ddp)));
}

// The time and the memory of all cells that keep training state on the same devices.
std::string sharding_sentence(const CellSummary& first, const Summary& summary) {
  const CellSummary* ddp = nullptr;
  std::vector<const CellSummary*> shown;
  for (const CellSummary& cell : summary.cells) {
    const bool is_ddp = cell.cell.strategy == name_of(kDdp);
    const bool is_shown = is_ddp || options::is_sharding(cell.cell.strategy);
    if (!is_shown || !is_same_workload(cell, first)) continue;
    shown.push_back(&cell);
    if (is_ddp && (ddp == nullptr || cell.cell.options.size() < ddp->cell.options.size())) {
      ddp = &cell;
    }
  }
  std::vector<std::string> costs;
  for (const CellSummary* cell : shown) costs.push_back(cost_words(*cell, ddp));
  return fmt::format("{}, {}: {} and a device's tensors: {}.", spoken_workload(first.cell),
                     count_text(first.cell.devices, "device"),
                     first.cell.is_pretended() ? "the host's work of a step" : "a step",
                     join(costs, "; "));
}

// A sentence per workload on the most devices.
std::vector<std::string> sharding_sentences(const Summary& summary,
                                            const std::string& implementation) {
  int most = 2;
  std::vector<const CellSummary*> firsts;
  for (const CellSummary& cell : summary.cells) {
    if (!options::is_sharding(cell.cell.strategy) || cell.cell.devices < most) continue;
    if (implementation_of(cell.cell) != implementation) continue;
    if (cell.cell.devices > most) firsts.clear();
    most = cell.cell.devices;
    const auto is_there = [&](const CellSummary* first) { return is_same_workload(cell, *first); };
    if (std::ranges::none_of(firsts, is_there)) firsts.push_back(&cell);
  }
  std::vector<std::string> sentences;
  for (const CellSummary* first : firsts) sentences.push_back(sharding_sentence(*first, summary));
  return sentences;
}

}  // namespace

std::string answering_implementation(const Summary& summary) {
  for (const StrategyPair& pair : summary.comparisons) {
    const std::string implementation = implementation_of(pair.dp->cell);
    if (!implementation.empty() && pair.dp->cell.devices > 1) return implementation;
  }
  // DataParallel may have fitted nowhere, and DistributedDataParallel is what users run then.
  for (const CellSummary& cell : summary.cells) {
    const std::string implementation = implementation_of(cell.cell);
    if (implementation.empty() || !is_dp_of(cell, implementation)) continue;
    if (std::ranges::any_of(summary.cells, [&](const CellSummary& other) {
          return is_several_of_ddp(other, implementation);
        })) {
      return implementation;
    }
  }
  return "";
}

std::pair<std::string, std::vector<std::string>> torch_answer(const Summary& summary,
                                                              const std::string& implementation) {
  const std::vector<Point> points = points_of(summary, implementation);
  const std::vector<Point> deciding = deciding_of(points);
  std::string overall = spoken_implementation(implementation) + ": " + overall_of(deciding);
  if (!deciding.empty() && std::ranges::none_of(deciding, has_pair)) {
    overall += " " + without_dp(summary, implementation);
  }
  const CellSummary* const is_said = deciding.size() == 1 ? deciding.front().ddp : nullptr;
  std::vector<std::string> sentences;
  for (const Point& point : spoken_of(points)) {
    if (point.ddp != is_said) sentences.push_back(spoken_sentence(point));
  }
  std::ranges::move(sharding_sentences(summary, implementation), std::back_inserter(sentences));
  return {overall, sentences};
}

}  // namespace tandem::reports
