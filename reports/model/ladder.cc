// SPDX-License-Identifier: Apache-2.0
#include "reports/model/ladder.h"

#include <algorithm>

#include "common/options/strategies.h"
#include "common/options/values.h"
#include "common/results/disturbance.h"
#include "common/stats/rounds.h"
#include "common/stats/summary.h"
#include "reports/model/subject.h"

namespace tandem::reports {

namespace {

using results::LaunchRecord;
using results::Status;

using enum options::StrategyKind;

using Options = std::map<std::string, std::string>;

struct Definition {
  Rung rung;
  std::string label;
  options::StrategyKind strategy;
  Options options;
  bool is_one_share = false;  // runs one device's share of the batch, on one device
};

Options both(Options options, const Options& more) {
  options.insert(more.begin(), more.end());
  return options;
}

// The rungs of Tandem's own with nothing modelled but the link; the ladder first.
std::vector<Definition> measured_definitions() {
  const Options kept{{"threads", "kept"}};
  const Options in_replicas{{"loss", "replicas"}};
  const Options tree{{"replicate", "flat"}, {"broadcast", "tree"}, {"reduce", "tree"}};
  const Options views{{"grads", "views"}};
  const Options scatter = both(views, {{"input", "scatter"}});
  const Options one_bucket{{"bucket-mb", "all"}};
  const Options no_overlap{{"overlap", "off"}};
  const Options plain = both(one_bucket, no_overlap);
  return {
      {Rung::kDp, "dp", kDp, {}},
      {Rung::kKeptThreads, "threads kept", kDp, kept},
      {Rung::kTreeTransfers, "transfers flat, as a tree", kDp, both(tree, kept)},
      {Rung::kLossInReplicas, "loss in the replicas", kDp, both(both(tree, kept), in_replicas)},
      {Rung::kAllReduce, "no replication, reduction, root update", kDpAllReduce,
       both(scatter, plain)},
      {Rung::kLocalInput, "input local", kDpAllReduce, both(views, plain)},
      {Rung::kBuckets, "buckets", kDpAllReduce, both(views, no_overlap)},
      {Rung::kOverlap, "overlap", kDpAllReduce, views},
      {Rung::kProcesses, "processes", kDdp, views},
      {Rung::kTransfersAlone, "dp, transfers alone", kDp, tree},
      {Rung::kLossAlone, "dp, loss alone", kDp, in_replicas},
      {Rung::kBucketsAlone, "all-reduce, buckets alone", kDpAllReduce, both(scatter, no_overlap)},
      {Rung::kOverlapAlone, "all-reduce, overlap alone", kDpAllReduce, both(scatter, one_bucket)},
      {Rung::kProcessesAlone, "all-reduce in processes alone", kDdp, both(views, plain)},
      {Rung::kThreadsBack, "last dp, threads spawned again", kDp, both(tree, in_replicas)},
      {Rung::kTransfersBack, "last dp, transfers as before", kDp, both(kept, in_replicas)},
      {Rung::kScatterBack, "last all-reduce, input scattered again", kDpAllReduce, scatter},
      {Rung::kOneBucketBack, "last all-reduce, one bucket again", kDpAllReduce,
       both(views, one_bucket)},
      {Rung::kStockDdp, "ddp as torch has it", kDdp, {}},
      {Rung::kIndependent, std::string(kNoCommunication) + ", processes", kIndependent, {}}};
}

void add_modelled(std::vector<Definition>& definitions, const GapQuestion& question) {
  if (question.dispatch_cost.empty()) return;
  const Options cost{{"dispatch-cost", question.dispatch_cost}};
  definitions.push_back({Rung::kDpDispatch, "dp with the dispatch cost", kDp, cost});
  definitions.push_back({Rung::kDdpDispatch, "ddp with the dispatch cost", kDdp, cost});
  if (!question.interpreter_lock) return;
  definitions.push_back({Rung::kDpLock, "dp with the interpreter lock", kDp,
                         both(cost, {{"interpreter-lock", "on"}})});
}

void add_theirs(std::vector<Definition>& definitions, const GapQuestion& question) {
  if (question.implementation.empty()) return;
  const Options theirs{{kImplementation, question.implementation}};
  Options ddp = theirs;
  if (question.finds_unused) ddp["find-unused-parameters"] = "on";
  definitions.push_back({Rung::kTheirDdp, "their ddp", kDdp, ddp});
  if (question.implementation_has_dp) {
    definitions.push_back({Rung::kTheirDp, "their dp", kDp, theirs});
  }
  definitions.push_back({Rung::kTheirSingle, "their single, a share", kSingle, theirs, true});
  definitions.push_back({Rung::kOwnSingle, "single, a share", kSingle, {}, true});
}

// The implementation trains a user's module with the module's own optimizer.
void settle_sides(results::Cell& cell, const GapQuestion& question) {
  const bool is_of_module = !question.module.empty() && !implementation_of(cell).empty();
  if (is_of_module) cell.model = question.module;
  const std::string optimizer = named_optimizer(question);
  if (!is_of_module && !optimizer.empty()) cell.options["optimizer"] = optimizer;
}

results::Cell cell_of(const Definition& definition, const GapQuestion& question) {
  results::Cell cell{
      .strategy = to_string(definition.strategy),
      .launch = to_string(definition.rung == Rung::kIndependent
                              ? options::Launch::kProcesses  // the bound for ddp
                              : traits_of(definition.strategy).launch),
      .model = question.model,
      .backend = question.backend,
      .devices = definition.is_one_share ? 1 : question.devices,
      .global_batch = question.batch / (definition.is_one_share ? question.devices : 1),
      .options = definition.options};
  // A rung's own "scatter" stays, since that rung is about where the batch comes from.
  if (question.input != "host") cell.options.try_emplace("input", question.input);
  if (question.precision != "fp32") cell.options["precision"] = question.precision;
  cell.options.insert(question.simulated.begin(), question.simulated.end());
  const bool shares_costs = question.simulated.contains("dispatch-cost");
  if (shares_costs && cell.strategy == name_of(kDp)) cell.options["interpreter-lock"] = "on";
  if (!question.plant.empty()) cell.options["plant"] = question.plant;
  settle_sides(cell, question);
  return cell;
}

bool fits(const LaunchRecord& record, const results::Cell& cell) {
  // A failed launch may not know the back end that `auto` came to.
  const bool same_backend =
      cell.backend == "auto" || record.cell.backend == cell.backend || record.status != Status::kOk;
  return same_backend && record.mode == "synchronous" && record.cell.name() == cell.name();
}

MeasuredLadder::Launches launches_of(const RungCell& rung, const results::Document& document) {
  MeasuredLadder::Launches launches{.rung = rung, .problem = "not run"};
  for (const LaunchRecord& record : document.launches) {
    if (!fits(record, rung.cell)) continue;
    if (record.status == Status::kOk) {
      launches.measured.push_back(&record);
    } else {
      launches.problem = to_string(record.status);
      launches.failed += record.status == Status::kFailed ? 1 : 0;
    }
  }
  const results::CountedLaunches counted = results::counted(launches.measured);
  launches.measured = counted.launches;
  if (counted.holds_disturbed) launches.disturbed = counted.disturbed;
  return launches;
}

}  // namespace

std::string named_optimizer(const GapQuestion& question) {
  const std::vector<std::string_view> choices = options::choices_of("optimizer");
  const bool is_known = std::ranges::find(choices, question.optimizer) != choices.end();
  return is_known && question.optimizer != choices.front() ? question.optimizer : "";
}

std::map<std::string, std::string> what_is_simulated(const results::Cell& cell) {
  std::map<std::string, std::string> named;
  if (!cell.is_simulated()) return named;
  for (const char* const option : {"calibration", "dispatch-cost", "hardware", "single-step"}) {
    if (const std::string value = cell.option(option); !value.empty()) named[option] = value;
  }
  return named;
}

std::vector<RungCell> ladder_cells(const GapQuestion& question) {
  std::vector<Definition> definitions = measured_definitions();
  add_modelled(definitions, question);
  add_theirs(definitions, question);
  std::vector<RungCell> cells;
  for (const Definition& definition : definitions) {
    cells.push_back({.rung = definition.rung,
                     .label = definition.label,
                     .cell = cell_of(definition, question)});
  }
  return cells;
}

Weights minus(Rung a, Rung b) { return {{a, 1}, {b, -1}}; }

void add(Weights& weights, const Weights& more, double factor) {
  for (const auto& [rung, weight] : more) weights[rung] += factor * weight;
}

stats::Estimate sum_over(const std::vector<WeightedLaunches>& cells, const OfLaunch& value) {
  std::vector<std::vector<double>> values(cells.size());
  std::vector<std::vector<int>> rounds(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (const LaunchRecord* record : cells[i].launches) {
      values[i].push_back(value(*record));
      rounds[i].push_back(record->launch_index);
    }
  }
  std::vector<stats::RoundTerm> terms;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    terms.push_back(
        {.weight = cells[i].weight, .cell = {.values = values[i], .rounds = rounds[i]}});
  }
  return stats::sum_in_rounds(terms);
}

stats::Estimate difference(const std::vector<const LaunchRecord*>& of,
                           const std::vector<const LaunchRecord*>& from, const OfLaunch& value) {
  return sum_over({{.weight = 1, .launches = of}, {.weight = -1, .launches = from}}, value);
}

MeasuredLadder::MeasuredLadder(const results::Document& document, const GapQuestion& question)
    : is_projected_(!question.simulated.empty()) {
  for (const RungCell& rung : ladder_cells(question)) rungs_.push_back(launches_of(rung, document));
}

const MeasuredLadder::Launches* MeasuredLadder::find(Rung rung) const {
  const auto found =
      std::ranges::find(rungs_, rung, [](const Launches& launches) { return launches.rung.rung; });
  return found == rungs_.end() ? nullptr : &*found;
}

bool MeasuredLadder::has(Rung rung) const {
  const Launches* launches = find(rung);
  return launches != nullptr && !launches->measured.empty();
}

Figure MeasuredLadder::sum(const Weights& weights) const {
  std::vector<WeightedLaunches> cells;
  for (const auto& [rung, weight] : weights) {
    if (weight == 0) continue;
    const Launches* const launches = find(rung);
    if (launches == nullptr) return {.missing = "not asked for"};
    if (launches->measured.empty()) {
      return {.missing = launches->rung.label + " " + launches->problem};
    }
    cells.push_back({.weight = weight, .launches = launches->measured});
  }
  return {.seconds = sum_over(cells, mean_step), .is_projected = is_projected_};
}

Figure MeasuredLadder::difference(Rung above, Rung below, const OfLaunch& value) const {
  return {.seconds = reports::difference(find(above)->measured, find(below)->measured, value),
          .is_projected = is_projected_};
}

std::vector<double> MeasuredLadder::values(Rung rung, const OfLaunch& value) const {
  std::vector<double> found;
  const Launches* launches = find(rung);
  if (launches == nullptr) return found;
  for (const LaunchRecord* record : launches->measured) found.push_back(value(*record));
  return found;
}

double mean_step(const LaunchRecord& record) { return stats::mean(record.step_seconds); }

}  // namespace tandem::reports
