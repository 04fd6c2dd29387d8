// SPDX-License-Identifier: Apache-2.0
#include "reports/ladder.h"

#include <map>

namespace tandem::reports {
namespace {

using Options = std::map<std::string, std::string>;

struct Definition {
  Rung rung;
  const char* label;
  const char* strategy;
  Options options;
};

bool in_processes(const Definition& definition) {
  return definition.rung == Rung::kIndependent || std::string_view(definition.strategy) == "ddp";
}

std::vector<Definition> measured_definitions() {
  return {
      {Rung::kDp, "dp", "dp", {}},
      {Rung::kKeptThreads, "threads kept", "dp", {{"threads", "kept"}}},
      {Rung::kTreeTransfers,
       "transfers flat, as a tree",
       "dp",
       {{"threads", "kept"}, {"replicate", "flat"}, {"broadcast", "tree"}, {"reduce", "tree"}}},
      {Rung::kLossInReplicas,
       "loss in the replicas",
       "dp",
       {{"threads", "kept"},
        {"replicate", "flat"},
        {"broadcast", "tree"},
        {"reduce", "tree"},
        {"loss", "replicas"}}},
      {Rung::kAllReduce,
       "no replication, reduction, root update",
       "dp-allreduce",
       {{"input", "scatter"}, {"grads", "views"}, {"bucket-mb", "all"}, {"overlap", "off"}}},
      {Rung::kLocalInput,
       "input local",
       "dp-allreduce",
       {{"grads", "views"}, {"bucket-mb", "all"}, {"overlap", "off"}}},
      {Rung::kBuckets, "buckets", "dp-allreduce", {{"grads", "views"}, {"overlap", "off"}}},
      {Rung::kOverlap, "overlap", "dp-allreduce", {{"grads", "views"}}},
      {Rung::kProcesses, "processes", "ddp", {{"grads", "views"}}},
      {Rung::kTransfersAlone,
       "dp, transfers alone",
       "dp",
       {{"replicate", "flat"}, {"broadcast", "tree"}, {"reduce", "tree"}}},
      {Rung::kLossAlone, "dp, loss alone", "dp", {{"loss", "replicas"}}},
      {Rung::kBucketsAlone,
       "all-reduce, buckets alone",
       "dp-allreduce",
       {{"input", "scatter"}, {"grads", "views"}, {"overlap", "off"}}},
      {Rung::kOverlapAlone,
       "all-reduce, overlap alone",
       "dp-allreduce",
       {{"input", "scatter"}, {"grads", "views"}, {"bucket-mb", "all"}}},
      {Rung::kProcessesAlone,
       "all-reduce in processes alone",
       "ddp",
       {{"grads", "views"}, {"bucket-mb", "all"}, {"overlap", "off"}}},
      {Rung::kThreadsBack,
       "last dp, threads spawned again",
       "dp",
       {{"replicate", "flat"}, {"broadcast", "tree"}, {"reduce", "tree"}, {"loss", "replicas"}}},
      {Rung::kTransfersBack,
       "last dp, transfers as before",
       "dp",
       {{"threads", "kept"}, {"loss", "replicas"}}},
      {Rung::kScatterBack,
       "last all-reduce, input scattered again",
       "dp-allreduce",
       {{"input", "scatter"}, {"grads", "views"}}},
      {Rung::kOneBucketBack,
       "last all-reduce, one bucket again",
       "dp-allreduce",
       {{"grads", "views"}, {"bucket-mb", "all"}}},
      {Rung::kStockDdp, "ddp as torch has it", "ddp", {}},
      {Rung::kIndependent, "independent, processes", "independent", {}},
  };
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

results::Cell cell_of(const Definition& definition, const GapQuestion& question) {
  results::Cell cell{.strategy = definition.strategy,
                     .launch = in_processes(definition) ? "processes" : "threads",
                     .model = question.model,
                     .backend = question.backend,
                     .devices = question.devices,
                     .global_batch = question.batch,
                     .options = definition.options};
  // Not over "scatter": that rung is about where the batch comes from.
  if (question.input != "host") cell.options.try_emplace("input", question.input);
  if (!question.link.empty()) cell.options["link"] = question.link;
  if (!question.plant.empty()) cell.options["plant"] = question.plant;
  return cell;
}

}  // namespace

std::vector<RungCell> ladder_cells(const GapQuestion& question) {
  std::vector<Definition> definitions = measured_definitions();
  add_modelled(definitions, question);
  std::vector<RungCell> cells;
  for (const Definition& definition : definitions) {
    cells.push_back({.rung = definition.rung,
                     .label = definition.label,
                     .cell = cell_of(definition, question)});
  }
  return cells;
}

}  // namespace tandem::reports
