// SPDX-License-Identifier: Apache-2.0
#include "reports/model/closed_forms.h"

#include <optional>

#include "common/base/error.h"
#include "common/options/strategies.h"

namespace tandem::reports {
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

double& entry(HeldOut& row, Prediction method) {
  return row.seconds[static_cast<std::size_t>(method)];
}

}  // namespace

double perfect_scaling(const KnownOfCell& known) { return known.one_device_seconds; }

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
