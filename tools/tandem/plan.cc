// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "common/base/error.h"

namespace tandem::cli {
namespace {

bool exists(const Strategy& strategy, int devices) {
  if (strategy.strategy == "single") return devices == 1;
  if (strategy.strategy == "independent") return devices >= 2;
  return true;
}

void add(std::vector<results::Cell>& cells, std::set<std::string>& names, results::Cell cell) {
  if (!names.insert(cell.name()).second) {
    fail(ErrorKind::kUsage, "the sweep asks for {} twice; remove the repeated entry", cell.name());
  }
  cells.push_back(std::move(cell));
}

// Fisher and Yates, written out: std::shuffle gives another order with another library.
void shuffle(std::vector<std::size_t>& order, std::mt19937_64& random) {
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[random() % left]);
  }
}

}  // namespace

std::vector<results::Cell> cells_of(const Sweep& sweep, const std::string& backend) {
  std::vector<int> devices = sweep.devices;
  const bool has_one = std::find(devices.begin(), devices.end(), 1) != devices.end();
  std::vector<results::Cell> cells;
  std::set<std::string> names;
  for (const Workload& workload : sweep.workloads) {
    for (const Strategy& strategy : sweep.strategies) {
      std::map<std::string, std::string> options = strategy.options;
      if (workload.precision != kUsualPrecision) {
        options.try_emplace("precision", workload.precision);  // a strategy's own goes first
      }
      const auto add_at = [&](int count) {
        add(cells, names,
            {.strategy = strategy.strategy,
             .launch = strategy.launch,
             .model = workload.model,
             .backend = backend,
             .devices = count,
             .global_batch = workload.batch,
             .options = options});
      };
      if (strategy.strategy == "single" && !has_one) add_at(1);
      for (const int count : devices) {
        if (exists(strategy, count)) add_at(count);
      }
    }
  }
  if (cells.empty()) fail(ErrorKind::kUsage, "the sweep has no cells; add devices or strategies");
  return cells;
}

std::vector<Slot> interleaved(std::size_t cells, int launches) {
  constexpr std::uint64_t kSeed = 20240229;
  std::mt19937_64 random(kSeed);
  std::vector<std::size_t> order(cells);
  std::iota(order.begin(), order.end(), 0U);
  std::vector<Slot> slots;
  for (int launch = 0; launch < launches; ++launch) {
    shuffle(order, random);
    for (const std::size_t cell : order) slots.push_back({.cell = cell, .launch = launch});
  }
  return slots;
}

bool same_series(const results::Cell& a, const results::Cell& b) {
  results::Cell other = b;
  other.global_batch = a.global_batch;
  return a == other;
}

}  // namespace tandem::cli
