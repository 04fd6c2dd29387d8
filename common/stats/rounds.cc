// SPDX-License-Identifier: Apache-2.0
#include "common/stats/rounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <set>

#include "common/base/error.h"
#include "common/stats/estimate.h"
#include "common/stats/summary.h"

namespace tandem::stats {
namespace {

// The rounds that all cells share.
std::set<int> common_rounds(std::span<const InRounds> cells) {
  std::set<int> common(cells.front().rounds.begin(), cells.front().rounds.end());
  for (const InRounds& cell : cells.subspan(1)) {
    std::erase_if(common, [&](int round) {
      return std::ranges::find(cell.rounds, round) == cell.rounds.end();
    });
  }
  return common;
}

// The cell's values of the `common` rounds in their order, then the others.
std::vector<double> common_first(const InRounds& cell, const std::set<int>& common) {
  TANDEM_CHECK(cell.values.size() == cell.rounds.size(), "{} values, {} rounds", cell.values.size(),
               cell.rounds.size());
  std::vector<double> values;
  for (const int round : common) {
    const auto place = std::ranges::find(cell.rounds, round) - cell.rounds.begin();
    values.push_back(cell.values[static_cast<std::size_t>(place)]);
  }
  for (std::size_t i = 0; i < cell.rounds.size(); ++i) {
    if (!common.contains(cell.rounds[i])) values.push_back(cell.values[i]);
  }
  return values;
}

// The sum of cells that do not share their rounds.
Estimate apart(std::span<const RoundTerm> terms) {
  std::vector<Term> alone;
  for (const RoundTerm& term : terms) {
    alone.push_back({.weight = term.weight, .launch_means = term.cell.values});
  }
  return weighted_sum(alone);
}

}  // namespace

int trimmed_at_each_end(int n) {
  constexpr int kFewestToTrim = 8;
  return n < kFewestToTrim ? 0 : std::max(1, n / 6);
}

double half_in_errors(int n, double confidence) {
  TANDEM_CHECK(n >= 2, "{} values have no interval", n);
  const int trimmed = trimmed_at_each_end(n);
  const int left = n - 2 * trimmed;
  const double factor = trimmed > 0 ? 1 + 0.4 / left : 1;
  return factor * student_t_critical(confidence, left - 1);
}

Estimate trimmed_mean(std::span<const double> values, double confidence) {
  TANDEM_CHECK(!values.empty(), "no launch");
  const int n = static_cast<int>(values.size());
  const auto trimmed = static_cast<std::size_t>(trimmed_at_each_end(n));
  const int left = n - 2 * trimmed_at_each_end(n);
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  Estimate result{.center = mean(std::span(sorted).subspan(trimmed, sorted.size() - 2 * trimmed)),
                  .interval = std::nullopt,
                  .launches = n};
  if (n < 2) return result;
  for (double& value : sorted) {
    value = std::clamp(value, sorted[trimmed], sorted[sorted.size() - 1 - trimmed]);
  }
  const double error = std::sqrt(sample_variance(sorted) * (n - 1) / (left * (left - 1.0)));
  const double half = half_in_errors(n, confidence) * error;
  result.interval = Interval{result.center - half, result.center + half};
  return result;
}

Estimate center_in_rounds(std::span<const double> launch_medians) {
  return exponential(trimmed_mean(logs(launch_medians), kConfidence));
}

std::vector<std::vector<double>> side_by_side(std::span<const InRounds> cells) {
  TANDEM_CHECK(!cells.empty(), "no cell");
  const std::set<int> common = common_rounds(cells);
  std::vector<std::vector<double>> lists;
  std::size_t fewest = cells.front().values.size();
  for (const InRounds& cell : cells) {
    lists.push_back(common_first(cell, common));
    fewest = std::min(fewest, lists.back().size());
  }
  for (std::vector<double>& list : lists) list.resize(fewest);
  return lists;
}

Estimate ratio_in_rounds(std::span<const double> numerator, std::span<const double> denominator,
                         double confidence) {
  TANDEM_CHECK(numerator.size() == denominator.size(), "{} and {} launches", numerator.size(),
               denominator.size());
  std::vector<double> differences = logs(numerator);
  const std::vector<double> others = logs(denominator);
  for (std::size_t i = 0; i < differences.size(); ++i) differences[i] -= others[i];
  return exponential(trimmed_mean(differences, confidence));
}

Estimate ratio_in_rounds(const InRounds& numerator, const InRounds& denominator,
                         double confidence) {
  const auto lists = side_by_side(std::array{numerator, denominator});
  return ratio_in_rounds(lists[0], lists[1], confidence);
}

Estimate sum_in_rounds(std::span<const RoundTerm> terms) {
  TANDEM_CHECK(!terms.empty(), "a sum of no terms");
  std::vector<InRounds> cells;
  for (const RoundTerm& term : terms) cells.push_back(term.cell);
  const std::size_t launches = cells.front().values.size();
  const bool are_even = std::ranges::all_of(
      cells, [&](const InRounds& cell) { return cell.values.size() == launches; });
  if (!are_even) return apart(terms);
  const auto lists = side_by_side(cells);
  std::vector<double> sums(lists.front().size(), 0);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    for (std::size_t round = 0; round < sums.size(); ++round) {
      sums[round] += terms[i].weight * lists[i][round];
    }
  }
  return center_of_means(sums);
}

}  // namespace tandem::stats
