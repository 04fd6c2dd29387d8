// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/bucket_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <tuple>

#include "common/options/strategies.h"
#include "common/stats/comparison.h"
#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {
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

TextTable bucket_curve_table(const Summary& summary) {
  TextTable table({"cells that differ in this alone", ">bucket cap, MiB", ">launches",
                   ">median step [95 %]", "remarks"});
  for (const BucketCurve& curve : bucket_curves(summary)) {
    for (const BucketCurve::Point& point : curve.points) {
      std::vector<std::string> remarks;
      if (&point == &curve.best()) remarks.emplace_back("the least");
      if (&point == curve.usual()) remarks.emplace_back("the default");
      table.rows.push_back({curve.title, point.cap, std::to_string(point.cell->launches),
                            duration_text(point.cell->median_step), join(remarks, ", ")});
    }
  }
  return table;
}

}  // namespace tandem::reports
