// SPDX-License-Identifier: Apache-2.0
#include "reports/model/hold_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "common/base/error.h"
#include "common/options/strategies.h"
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

namespace {

using enum options::StrategyKind;

bool hands_out_weights(const results::Cell& cell) {
  return cell.strategy == options::name_of(kDp) || cell.strategy == options::name_of(kDdpReplicate);
}

bool transfers_nothing(const results::Cell& cell) {
  return cell.devices == 1 || cell.strategy == options::name_of(kIndependent);
}

// Seconds per call by the strategy's other cells, a line through the origin. Absent without other
// cells, and where they take no longer than one device, so that calls are not what costs.
std::optional<double> cost_per_call(const std::vector<HeldOut>& rows,
                                    const std::vector<KnownOfCell>& known, std::size_t left_out) {
  double products = 0;
  double squares = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool counts = i != left_out && rows[i].cell.strategy == rows[left_out].cell.strategy;
    if (!counts) continue;
    products += known[i].calls * (rows[i].measured.center - known[i].one_device_seconds);
    squares += known[i].calls * known[i].calls;
  }
  if (squares <= 0 || products <= 0) return std::nullopt;
  return products / squares;
}

// All devices as fast as one.
double perfect_scaling(const KnownOfCell& known) { return known.one_device_seconds; }

double& entry(HeldOut& row, Prediction method) {
  return row.seconds[static_cast<std::size_t>(method)];
}

}  // namespace

double without_overlap(const results::Cell& cell, const KnownOfCell& known) {
  if (known.one_device_seconds <= 0) return 0;
  if (transfers_nothing(cell)) return known.one_device_seconds;
  if (known.link.bytes_per_second <= 0) return 0;
  const double passes = 2.0 * (cell.devices - 1);
  const double at_once = hands_out_weights(cell) ? 1 : cell.devices;
  return known.one_device_seconds +
         passes * (known.link.latency_seconds +
                   known.parameter_bytes / (at_once * known.link.bytes_per_second));
}

void add_closed_forms(std::vector<HeldOut>& rows, const std::vector<KnownOfCell>& known) {
  TANDEM_CHECK(rows.size() == known.size(), "{} cells, known of {}", rows.size(), known.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    entry(rows[i], Prediction::kPerfectScaling) = perfect_scaling(known[i]);
    entry(rows[i], Prediction::kNoOverlap) = without_overlap(rows[i].cell, known[i]);
    const auto cost = cost_per_call(rows, known, i);
    if (cost && known[i].one_device_seconds > 0) {
      entry(rows[i], Prediction::kCostPerCall) =
          known[i].one_device_seconds + *cost * known[i].calls;
    }
  }
}

}  // namespace tandem::reports
