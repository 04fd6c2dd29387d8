// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/ddp.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "common/base/units.h"
#include "common/options/strategies.h"
#include "common/stats/comparison.h"
#include "reports/model/communication.h"
#include "reports/model/notes.h"
#include "reports/model/subject.h"
#include "reports/tables/cells.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

// Clips the interval to [0, most], where the centre lies: a t interval may reach beyond that range.
stats::Estimate clipped(stats::Estimate estimate, double most) {
  if (!estimate.interval) return estimate;
  if (estimate.center >= 0) estimate.interval->low = std::max(estimate.interval->low, 0.0);
  if (estimate.center <= most) estimate.interval->high = std::min(estimate.interval->high, most);
  return estimate;
}

std::string percent_text(const stats::Estimate& share) {
  return fixed_text(clipped(share, 1), 1, " %", 100);
}

std::string milliseconds(const stats::Estimate& seconds) {
  return fixed_text(clipped(seconds, std::numeric_limits<double>::infinity()), 3, "", 1e3);
}

std::string remarks(const CommunicationTimes& times) {
  std::vector<std::string> marks = marks_of(*times.cell);
  if (times.cell->cell.options.contains("compress")) marks.emplace_back("bytes before compression");
  if (times.left_out > 0) {
    marks.push_back(
        fmt::format("{} without these buckets left out", count_text(times.left_out, "launch")));
  }
  return join(marks, ", ");
}

}  // namespace

TextTable collective_table(const Summary& summary) {
  TextTable table =
      table_of_points({"strategy", ">buckets", ">gradients", ">all collectives, ms [95 %]",
                       ">waited for, ms [95 %]", ">not waited for [95 %]", "remarks"});
  for (const CommunicationTimes& times : communication_times(summary)) {
    const results::Cell& cell = times.cell->cell;
    add_point(table, cell,
              {strategy_label(cell), std::to_string(times.bucket_bytes.size()),
               to_string(Bytes{times.size_bytes()}), milliseconds(times.total),
               milliseconds(times.exposed),
               times.hidden_share ? percent_text(*times.hidden_share) : "-", remarks(times)});
  }
  return table;
}

namespace {

// A part that is 0 in every launch, such as copies with --grads=views, needs no mark.
std::string mark(const stats::Estimate& seconds) {
  const bool is_absent = seconds.center == 0 && seconds.interval && seconds.interval->low == 0 &&
                         seconds.interval->high == 0;
  return is_absent || stats::is_resolved(seconds) ? "" : " ~";
}

std::string with_interval(const stats::Estimate& seconds) {
  return fixed_text(seconds, 3, "", 1e3) + mark(seconds);
}

std::string remarks(const DdpCost& cost) {
  std::vector<std::string> marks = marks_of(*cost.ddp);
  if (!implementation_of(cost.ddp->cell).empty()) {
    marks.emplace_back("no parts: torch does not separate backward from its collectives");
  } else if (!cost.parts) {
    marks.emplace_back("no parts: phases were not timed");
  }
  return join(marks, ", ");
}

}  // namespace

TextTable ddp_cost_table(const Summary& summary) {
  const char* const share = is_of_host_work(summary) ? ">host work of the bound / ddp [95 %]"
                                                     : ">share of the bound [95 %]";
  TextTable table = table_of_points({"strategy", ">-median step [95 %]", share,
                                     ">~missing, ms [95 %]", ">~exposed transfer", ">~skew",
                                     ">~contention", ">~bucket copies", ">~rest", "remarks"});
  for (const DdpCost& cost : ddp_costs(summary)) {
    std::vector<std::string> fields{strategy_label(cost.ddp->cell),
                                    duration_text(cost.ddp->median_step), ratio_text(cost.share),
                                    with_interval(cost.missing)};
    for (const auto part : kCostParts) {
      fields.push_back(cost.parts ? with_interval(*cost.parts.*part) : "-");
    }
    fields.push_back(remarks(cost));
    add_point(table, cost.ddp->cell, fields);
  }
  return table;
}

namespace {

using enum options::StrategyKind;

constexpr const char* kUsualCap = "25";  // torch's default, and therefore ddp's
constexpr const char* kOption = "bucket-mb";

// The cap in MiB; a cap is a number or "all".
double mebibytes_of(const std::string& cap) {
  double value = std::numeric_limits<double>::infinity();
  std::from_chars(cap.data(), cap.data() + cap.size(), value);
  return value;
}

std::string title_of(const CellSummary& summary) {
  results::Cell others = summary.cell;
  others.options.erase(kOption);
  std::string title = point_text(others) + ", " + strategy_label(others);
  if (summary.mode != "synchronous") title += ", " + summary.mode;
  return title;
}

}  // namespace

const BucketCurve::Point& BucketCurve::best() const {
  return *std::ranges::min_element(points, [](const Point& a, const Point& b) {
    return a.cell->median_step.center < b.cell->median_step.center;
  });
}

const BucketCurve::Point* BucketCurve::usual() const {
  const auto found =
      std::ranges::find_if(points, [](const Point& point) { return point.cap == kUsualCap; });
  return found == points.end() ? nullptr : &*found;
}

bool BucketCurve::best_is_resolved() const {
  const Point* other = usual();
  if (other == nullptr || other == &best()) return false;
  return stats::judge(ratio_of(*other->cell, *best().cell)) == stats::Verdict::kFaster;
}

std::vector<BucketCurve> bucket_curves(const Summary& summary) {
  std::map<std::tuple<std::string, std::string>, BucketCurve> curves;
  for (const CellSummary& cell : summary.cells) {
    if (cell.cell.strategy != name_of(kDdp) || cell.launches == 0 || cell.cell.devices < 2)
      continue;
    const std::string title = title_of(cell);
    const std::string cap = cell.cell.option(kOption, kUsualCap);
    BucketCurve& curve = curves[{cell.cell.backend, title}];
    curve.title = title;
    curve.points.push_back({.cap = cap, .mebibytes = mebibytes_of(cap), .cell = &cell});
  }
  std::vector<BucketCurve> found;
  for (auto& [key, curve] : curves) {
    if (curve.points.size() < 2) continue;
    std::ranges::sort(curve.points,
                      [](const auto& a, const auto& b) { return a.mebibytes < b.mebibytes; });
    found.push_back(std::move(curve));
  }
  return found;
}

}  // namespace tandem::reports
