// SPDX-License-Identifier: Apache-2.0
#include "reports/model/ladder.h"

#include <algorithm>

#include "common/options/strategies.h"
#include "common/stats/summary.h"
#include "reports/model/subject.h"

namespace tandem::reports {

namespace {

using results::LaunchRecord;
using results::Status;

using Options = std::map<std::string, std::string>;

struct Definition {
  Rung rung;
  const char* label;
  const char* strategy;
  Options options;
  bool is_one_share = false;  // runs one device's share of the batch, on one device
};

constexpr const char* kAllReduce = "dp-allreduce";

// The options of dp's rungs: kept replicas, transfers as a tree, and `more`.
Options tree_transfers(const Options& more = {}) {
  Options options{{"replicate", "flat"}, {"broadcast", "tree"}, {"reduce", "tree"}};
  options.insert(more.begin(), more.end());
  return options;
}

// The options of the all-reduce's rungs: gradients as views of the buckets, and `more`.
Options views(const Options& more = {}) {
  Options options{{"grads", "views"}};
  options.insert(more.begin(), more.end());
  return options;
}

std::vector<Definition> ladder_definitions() {
  return {{Rung::kDp, "dp", "dp", {}},
          {Rung::kKeptThreads, "threads kept", "dp", {{"threads", "kept"}}},
          {Rung::kTreeTransfers, "transfers flat, as a tree", "dp",
           tree_transfers({{"threads", "kept"}})},
          {Rung::kLossInReplicas, "loss in the replicas", "dp",
           tree_transfers({{"threads", "kept"}, {"loss", "replicas"}})},
          {Rung::kAllReduce, "no replication, reduction, root update", kAllReduce,
           views({{"input", "scatter"}, {"bucket-mb", "all"}, {"overlap", "off"}})},
          {Rung::kLocalInput, "input local", kAllReduce,
           views({{"bucket-mb", "all"}, {"overlap", "off"}})},
          {Rung::kBuckets, "buckets", kAllReduce, views({{"overlap", "off"}})},
          {Rung::kOverlap, "overlap", kAllReduce, views()},
          {Rung::kProcesses, "processes", "ddp", views()}};
}

std::vector<Definition> removed_alone() {
  return {{Rung::kTransfersAlone, "dp, transfers alone", "dp", tree_transfers()},
          {Rung::kLossAlone, "dp, loss alone", "dp", {{"loss", "replicas"}}},
          {Rung::kBucketsAlone, "all-reduce, buckets alone", kAllReduce,
           views({{"input", "scatter"}, {"overlap", "off"}})},
          {Rung::kOverlapAlone, "all-reduce, overlap alone", kAllReduce,
           views({{"input", "scatter"}, {"bucket-mb", "all"}})},
          {Rung::kProcessesAlone, "all-reduce in processes alone", "ddp",
           views({{"bucket-mb", "all"}, {"overlap", "off"}})}};
}

std::vector<Definition> put_back_alone() {
  return {{Rung::kThreadsBack, "last dp, threads spawned again", "dp",
           tree_transfers({{"loss", "replicas"}})},
          {Rung::kTransfersBack,
           "last dp, transfers as before",
           "dp",
           {{"threads", "kept"}, {"loss", "replicas"}}},
          {Rung::kScatterBack, "last all-reduce, input scattered again", kAllReduce,
           views({{"input", "scatter"}})},
          {Rung::kOneBucketBack, "last all-reduce, one bucket again", kAllReduce,
           views({{"bucket-mb", "all"}})}};
}

std::vector<Definition> measured_definitions() {
  std::vector<Definition> definitions = ladder_definitions();
  for (const auto& more : {removed_alone(), put_back_alone()}) {
    definitions.insert(definitions.end(), more.begin(), more.end());
  }
  definitions.push_back({Rung::kStockDdp, "ddp as torch has it", "ddp", {}});
  definitions.push_back({Rung::kIndependent, "independent, processes", "independent", {}});
  return definitions;
}

void add_modelled(std::vector<Definition>& definitions, const GapQuestion& question) {
  if (question.dispatch_cost.empty()) return;
  const Options cost{{"dispatch-cost", question.dispatch_cost}};
  definitions.push_back({Rung::kDpDispatch, "dp with the dispatch cost", "dp", cost});
  definitions.push_back({Rung::kDdpDispatch, "ddp with the dispatch cost", "ddp", cost});
  if (!question.interpreter_lock) return;
  Options locked = cost;
  locked["interpreter-lock"] = "on";
  definitions.push_back({Rung::kDpLock, "dp with the interpreter lock", "dp", locked});
}

void add_theirs(std::vector<Definition>& definitions, const GapQuestion& question) {
  if (question.implementation.empty()) return;
  const Options theirs{{kImplementation, question.implementation}};
  definitions.push_back({Rung::kTheirDdp, "their ddp", "ddp", theirs});
  if (question.implementation_has_dp) {
    definitions.push_back({Rung::kTheirDp, "their dp", "dp", theirs});
  }
  definitions.push_back({Rung::kTheirSingle, "their single, a share", "single", theirs, true});
  definitions.push_back({Rung::kOwnSingle, "single, a share", "single", {}, true});
}

results::Cell cell_of(const Definition& definition, const GapQuestion& question) {
  results::Cell cell{
      .strategy = definition.strategy,
      .launch = definition.rung == Rung::kIndependent
                    ? "processes"  // the bound for ddp
                    : std::string(options::usual_launch(definition.strategy)),
      .model = question.model,
      .backend = question.backend,
      .devices = definition.is_one_share ? 1 : question.devices,
      .global_batch = question.batch / (definition.is_one_share ? question.devices : 1),
      .options = definition.options};
  // A rung's own "scatter" stays, since that rung is about where the batch comes from.
  if (question.input != "host") cell.options.try_emplace("input", question.input);
  if (question.precision != "fp32") cell.options["precision"] = question.precision;
  if (!question.link.empty()) cell.options["link"] = question.link;
  if (!question.plant.empty()) cell.options["plant"] = question.plant;
  return cell;
}

bool fits(const LaunchRecord& record, const results::Cell& cell) {
  // A failed launch may not know the back end that `auto` came to.
  const bool same_backend =
      cell.backend == "auto" || record.cell.backend == cell.backend || record.status != Status::kOk;
  return same_backend && record.mode == "synchronous" && record.cell.name() == cell.name();
}

MeasuredLadder::Launches launches_of(const RungCell& rung, const results::Document& document) {
  MeasuredLadder::Launches launches{
      .rung = rung, .measured = {}, .failed = 0, .problem = "not run"};
  for (const LaunchRecord& record : document.launches) {
    if (!fits(record, rung.cell)) continue;
    if (record.status == Status::kOk) {
      launches.measured.push_back(&record);
    } else {
      launches.problem = to_string(record.status);
      launches.failed += record.status == Status::kFailed ? 1 : 0;
    }
  }
  return launches;
}

}  // namespace

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

MeasuredLadder::MeasuredLadder(const results::Document& document, const GapQuestion& question) {
  for (const RungCell& rung : ladder_cells(question)) {
    rungs_.push_back(launches_of(rung, document));
  }
}

const MeasuredLadder::Launches* MeasuredLadder::find(Rung rung) const {
  const auto found = std::find_if(rungs_.begin(), rungs_.end(), [&](const Launches& launches) {
    return launches.rung.rung == rung;
  });
  return found == rungs_.end() ? nullptr : &*found;
}

bool MeasuredLadder::has(Rung rung) const {
  const Launches* launches = find(rung);
  return launches != nullptr && !launches->measured.empty();
}

Figure MeasuredLadder::sum(const Weights& weights) const {
  std::vector<std::vector<double>> means;
  std::vector<double> factors;
  for (const auto& [rung, weight] : weights) {
    if (weight == 0) continue;
    if (!has(rung)) {
      const Launches* launches = find(rung);
      if (launches == nullptr) return {.seconds = {}, .missing = "not asked for"};
      return {.seconds = {}, .missing = launches->rung.label + " " + launches->problem};
    }
    means.push_back(values(rung, mean_step));
    factors.push_back(weight);
  }
  std::vector<stats::Term> terms;
  for (std::size_t i = 0; i < means.size(); ++i) {
    terms.push_back({.weight = factors[i], .launch_means = means[i]});
  }
  return {.seconds = stats::weighted_sum(terms), .missing = {}};
}

std::vector<double> MeasuredLadder::values(Rung rung, const Value& value) const {
  std::vector<double> found;
  const Launches* launches = find(rung);
  if (launches == nullptr) return found;
  for (const LaunchRecord* record : launches->measured) found.push_back(value(*record));
  return found;
}

double mean_step(const LaunchRecord& record) { return stats::mean(record.step_seconds); }

}  // namespace tandem::reports
