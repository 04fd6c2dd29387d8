// SPDX-License-Identifier: Apache-2.0
#include "reports/model/hold_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/base/error.h"
#include "common/stats/summary.h"

namespace tandem::reports {
namespace {

constexpr double kShareInside = 0.9;

double log_error(const HeldOut& row) {
  return std::abs(std::log(row.by(Prediction::kSimulated) / row.measured.center));
}

std::optional<ErrorFigures> figures_of(const std::vector<HeldOut>& rows, Prediction method,
                                       double (*error)(const HeldOut&, Prediction)) {
  std::vector<double> errors;
  for (const HeldOut& row : rows) {
    if (row.by(method) > 0) errors.push_back(error(row, method));
  }
  if (errors.empty()) return std::nullopt;
  return ErrorFigures{.cells = static_cast<int>(errors.size()),
                      .mean = stats::mean(errors),
                      .p90 = stats::percentile(errors, 100 * kShareInside),
                      .most = stats::maximum(errors)};
}

FoldCoverage coverage_of(const std::vector<HeldOut>& rows, Fold fold,
                         const std::set<std::string>& groups) {
  FoldCoverage coverage{.fold = fold, .groups = static_cast<int>(groups.size())};
  std::vector<double> widths;
  for (const std::string& left_out : groups) {
    std::vector<HeldOut> others;
    std::ranges::copy_if(rows, std::back_inserter(others),
                         [&](const HeldOut& row) { return group_of(row.cell, fold) != left_out; });
    const double width = *half_width(others);
    for (const HeldOut& row : rows) {
      if (group_of(row.cell, fold) != left_out) continue;
      ++coverage.cells;
      if (log_error(row) <= width) ++coverage.inside;
      widths.push_back(width);
    }
  }
  coverage.median_half_width = stats::median(widths);
  return coverage;
}

}  // namespace

double error_of(const HeldOut& row, Prediction method) {
  TANDEM_CHECK(row.by(method) > 0, "{} has no prediction", row.cell.name());
  return std::abs(row.by(method) / row.measured.center - 1);
}

double error_beyond_interval(const HeldOut& row, Prediction method) {
  if (!row.measured.interval) return error_of(row, method);
  const double predicted = row.by(method);
  const double nearest =
      std::clamp(predicted, row.measured.interval->low, row.measured.interval->high);
  return std::abs(predicted - nearest) / row.measured.center;
}

std::optional<ErrorFigures> error_figures(const std::vector<HeldOut>& rows, Prediction method) {
  return figures_of(rows, method, error_of);
}

std::optional<ErrorFigures> figures_beyond_intervals(const std::vector<HeldOut>& rows,
                                                     Prediction method) {
  return figures_of(rows, method, error_beyond_interval);
}

std::string_view name_of(Fold fold) {
  switch (fold) {
    case Fold::kStrategy:
      return "strategy";
    case Fold::kDevices:
      return "number of devices";
    case Fold::kBatch:
      return "batch";
    case Fold::kModel:
      return "model";
  }
  fail(ErrorKind::kLogic, "no such fold");
}

std::string group_of(const results::Cell& cell, Fold fold) {
  switch (fold) {
    case Fold::kStrategy:
      return cell.strategy;
    case Fold::kDevices:
      return fmt::format("{}", cell.devices);
    case Fold::kBatch:
      return fmt::format("{}", cell.global_batch);
    case Fold::kModel:
      return cell.model;
  }
  fail(ErrorKind::kLogic, "no such fold");
}

std::optional<double> half_width(const std::vector<HeldOut>& rows) {
  if (rows.empty()) return std::nullopt;
  std::vector<double> errors;
  for (const HeldOut& row : rows) errors.push_back(log_error(row));
  std::ranges::sort(errors);
  const auto wanted =
      static_cast<std::size_t>(std::ceil(kShareInside * static_cast<double>(errors.size() + 1)));
  return std::max(errors[std::min(wanted, errors.size()) - 1], kLeastHalfWidth);
}

std::vector<FoldCoverage> nested_coverage(const std::vector<HeldOut>& rows) {
  std::vector<FoldCoverage> coverages;
  for (const Fold fold : kFolds) {
    std::set<std::string> groups;
    for (const HeldOut& row : rows) groups.insert(group_of(row.cell, fold));
    if (groups.size() > 1) coverages.push_back(coverage_of(rows, fold, groups));
  }
  return coverages;
}

double projected_half_width(double half_width, int devices, int most_measured) {
  const double doublings =
      devices > most_measured ? std::log2(static_cast<double>(devices) / most_measured) : 0;
  return half_width * (1 + doublings);
}

stats::Interval interval_around(double figure, double half_width) {
  const double factor = std::exp(half_width);
  return {figure / factor, figure * factor};
}

stats::Interval projected_interval(double seconds, double half_width, int devices,
                                   int most_measured) {
  return interval_around(seconds, projected_half_width(half_width, devices, most_measured));
}

}  // namespace tandem::reports
