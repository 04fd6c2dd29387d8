// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "common/base/error.h"
#include "common/options/strategies.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;

bool needs_equal_shares(const results::Cell& cell) {
  const options::StrategyTraits* const traits = options::find_strategy(cell.strategy);
  return options::is_sharding(cell.strategy) ||
         (traits != nullptr && traits->algorithm == options::Algorithm::kAllReduce);
}

// Why the cell is dropped; empty where the cell is measured.
std::string why_dropped(const results::Cell& cell, const Sweep& sweep) {
  if (cell.strategy == name_of(kSingle) && cell.devices != 1) return "single is one device";
  if (cell.strategy == name_of(kIndependent) && cell.devices == 1) {
    return "independent on one device is single";
  }
  if (needs_equal_shares(cell) && cell.global_batch % cell.devices != 0) {
    return fmt::format("{} devices do not divide a batch of {}", cell.devices, cell.global_batch);
  }
  for (const Constraint& constraint : sweep.constraints) {
    if (holds(constraint, cell)) return constraint.reason;
  }
  return "";
}

// The kept and the dropped cells of a sweep, each once.
class Planner {
 public:
  explicit Planner(const Sweep& sweep) : sweep_(sweep) {}

  // A batch per device may come to a batch that the sweep asks for anyhow.
  enum class Repeated { kIsAnError, kIsFine };

  void add(results::Cell cell, Repeated repeated) {
    if (!names_.insert(cell.name()).second) {
      if (repeated == Repeated::kIsFine) return;
      constexpr int kLongest = 200;
      fail(ErrorKind::kUsage, "the sweep asks for {:.{}} twice; remove the repeated entry",
           cell.name(), kLongest);
    }
    std::string reason = why_dropped(cell, sweep_);
    if (reason.empty()) {
      planned_.cells.push_back(std::move(cell));
    } else {
      planned_.dropped.push_back({.cell = std::move(cell), .reason = std::move(reason)});
    }
  }

  [[nodiscard]] PlannedCells take() { return std::move(planned_); }

 private:
  const Sweep& sweep_;
  std::set<std::string> names_;
  PlannedCells planned_;
};

void add_cells(Planner& planner, const Sweep& sweep, const SweepWorkload& workload,
               const SweepStrategy& strategy, const std::string& backend) {
  std::map<std::string, std::string> options = strategy.options;
  if (workload.precision != kUsualPrecision) {
    options.try_emplace("precision", workload.precision);  // a strategy's own precision goes first
  }
  using Repeated = Planner::Repeated;
  const Repeated repeated = workload.is_per_device ? Repeated::kIsFine : Repeated::kIsAnError;
  // The baseline of a batch per device is `single` with the whole batch on one device.
  const bool is_single = strategy.strategy == name_of(kSingle);
  const bool is_baseline = is_single && workload.is_per_device;
  const auto add_at = [&](int count) {
    planner.add({.strategy = strategy.strategy,
                 .launch = strategy.launch,
                 .model = workload.model,
                 .backend = backend,
                 .devices = is_baseline ? 1 : count,
                 .global_batch = workload.is_per_device ? workload.batch * count : workload.batch,
                 .options = options},
                repeated);
  };
  const std::vector<int>& devices = sweep.devices;
  const bool has_one = std::ranges::find(devices, 1) != devices.end();
  if (is_single && !is_baseline && !has_one) add_at(1);
  for (const int count : devices) add_at(count);
}

// The limit is ten times the size that resuming and reports are made for.
void check_size(const Sweep& sweep) {
  constexpr std::size_t kMost = 100'000;
  const std::size_t rows = sweep.workloads.size() * sweep.strategies.size();
  if (rows == 0 || sweep.devices.size() <= kMost / rows) return;
  fail(ErrorKind::kUsage,
       "the sweep has more than {} cells, of {} workloads, {} strategies and {} counts of devices; "
       "use several sweeps",
       kMost, sweep.workloads.size(), sweep.strategies.size(), sweep.devices.size());
}

// The shuffle of Fisher and Yates is written out, since std::shuffle's order depends on the
// library.
void shuffle(std::vector<std::size_t>& order, std::mt19937_64& random) {
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[random() % left]);
  }
}

// Why `backend` cannot measure the cell: its first option of the other back end says it; else
// empty.
std::string_view why_elsewhere(const results::Cell& cell, options::Scope backend) {
  for (const auto& [name, value] : cell.options) {
    const options::Option* const option = options::find_option(name);
    if (option != nullptr && option->scope != backend && !option->elsewhere.empty()) {
      return option->elsewhere;
    }
  }
  return {};
}

// Puts the cells of a workload together, and among them those of a device count, each where its
// first one stood: workloads, counts and cells stay shuffled.
void gather_points(std::vector<std::size_t>& order, const std::vector<results::Cell>& cells) {
  using Workload = std::pair<std::string, std::int64_t>;
  std::map<Workload, std::size_t> workloads;
  std::map<std::pair<Workload, int>, std::size_t> points;
  std::vector<std::pair<std::size_t, std::size_t>> places(cells.size());
  for (const std::size_t cell : order) {
    const Workload workload{cells[cell].model, cells[cell].global_batch};
    const auto of_workload = workloads.try_emplace(workload, workloads.size()).first;
    const auto of_point = points.try_emplace({workload, cells[cell].devices}, points.size()).first;
    places[cell] = {of_workload->second, of_point->second};
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t cell) { return places[cell]; });
}

}  // namespace

PlannedCells plan_cells(const Sweep& sweep, const std::string& backend) {
  check_size(sweep);
  Planner planner(sweep);
  for (const SweepWorkload& workload : sweep.workloads) {
    for (const SweepStrategy& strategy : sweep.strategies) {
      add_cells(planner, sweep, workload, strategy, backend);
    }
  }
  PlannedCells planned = planner.take();
  if (!planned.cells.empty()) return planned;
  const std::string why =
      planned.dropped.empty() ? "" : fmt::format(" ({})", planned.dropped.front().reason);
  fail(ErrorKind::kUsage, "the sweep has no cells{}; add devices or strategies", why);
}

void drop_for_backend(PlannedCells& planned, bool is_host) {
  const options::Scope backend = is_host ? options::Scope::kHost : options::Scope::kCuda;
  std::vector<results::Cell> kept;
  for (results::Cell& cell : planned.cells) {
    const std::string_view reason = why_elsewhere(cell, backend);
    if (reason.empty()) {
      kept.push_back(std::move(cell));
    } else {
      planned.dropped.push_back({.cell = std::move(cell), .reason = std::string(reason)});
    }
  }
  planned.cells = std::move(kept);
}

std::vector<PlannedLaunch> interleaved(const std::vector<results::Cell>& cells, int launches) {
  constexpr std::uint64_t kSeed = 20240229;
  std::mt19937_64 random(kSeed);
  std::vector<std::size_t> order(cells.size());
  std::iota(order.begin(), order.end(), 0U);
  std::vector<PlannedLaunch> all;
  for (int launch = 0; launch < launches; ++launch) {
    shuffle(order, random);
    gather_points(order, cells);
    for (const std::size_t cell : order) all.push_back({.cell = cell, .launch = launch});
  }
  return all;
}

bool is_larger(const results::Cell& large, const results::Cell& small,
               const std::vector<std::vector<std::string>>& model_series) {
  if (large.global_batch < small.global_batch || large.devices != small.devices) return false;
  if (large.model == small.model && large.global_batch == small.global_batch) return false;
  if (large.strategy != small.strategy || large.launch != small.launch ||
      large.backend != small.backend || large.options != small.options) {
    return false;
  }
  if (large.model == small.model) return true;
  return std::ranges::any_of(model_series, [&](const auto& models) {
    const auto place = std::ranges::find(models, small.model);
    return std::find(place, models.end(), large.model) != models.end();
  });
}

}  // namespace tandem::cli
