// SPDX-License-Identifier: Apache-2.0
#include "common/options/removed_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/error.h"

namespace tandem::options {
namespace {

struct RemovedName {
  std::string_view command;  // whose word it was; empty: every program's
  std::string_view word;     // a value stands behind its option, without what follows a colon
  std::string_view now;      // what serves the need: "use ..."
};

constexpr auto kRemovedNames = std::to_array<RemovedName>({
    {"", "--compress=powersgd",
     "PyTorch's own powerSGD_hook runs in cells of a module: tandem run --module=FILE.py:FUNCTION "
     "--cell=\"ddp powersgd=4\""},
    {"", "--powersgd-start",
     "PyTorch's own powerSGD_hook runs in cells of a module: tandem run --module=FILE.py:FUNCTION "
     "--cell=\"ddp powersgd=4\""},
    {"", "--reducer", "ddp's buckets are the one reducer: leave it out"},
    {"", "--cycle-time",
     "it was of --reducer=horovod, and ddp's buckets have no cycles: leave it out"},
    {"", "--fusion-mb", "it was of --reducer=horovod: use --bucket-mb, the size of ddp's buckets"},
    {"", "--comm=gloo",
     "use --comm=mpi between processes; PyTorch's own ddp of a CPU runs over gloo"},
    {"", "--join",
     "PyTorch's own Join runs in cells of a module: tandem run --module=FILE.py:FUNCTION "
     "--cell=\"ddp join=on\""},
    {"tandem trace", "svg", "open the trace.json with https://ui.perfetto.dev"},
    {"kernel_bench", "--step-of",
     "step_bench --batch=64 --peak-gflops=measured has the FLOP/s of a step over the peak"},
    {"kernel_bench", "--parts-of",
     "step_bench --batch=64 --peak-gflops=measured has a step's phases and FLOP/s"},
    {"kernel_bench", "--steps",
     "step_bench --batch=64 --peak-gflops=measured times as many steps as it needs"},
    {"", "--benchmark_format=csv", "use json, in which each entry has its own counters"},
    {"", "--benchmark_out_format=csv", "use json, in which each entry has its own counters"},
    {"tandem run", "--list", "use tandem list sweeps"},
    {"tandem run", "--against",
     "measure both builds in turns, as docs/ci.md has it, and use tandem compare"},
    {"tandem run", "--against-env",
     "measure with the variable and without it in turns, as docs/ci.md has it, and use tandem "
     "compare"},
    {"tandem run", "--against-option", "give the option to a strategy of the sweep, or to an axis"},
    {"tandem run", "--no-links",
     "a run measures no copies between devices: leave it out; copy_bench does"},
    {"tandem report", "--merge",
     "use tandem run with the same --out and more --launches, which adds to the folder"},
    {"tandem", "merge",
     "use tandem run with the same --out and more --launches, which adds to the folder"},
    {"tandem report", "--threshold",
     "use tandem compare A B, which judges one run against another"},
    {"tandem report", "--between-runs",
     "use tandem compare A B, which judges one run against another"},
    {"tandem", "profile", "start nsys or ncu as docs/profiling.md has it"},
    {"sweep", "link",
     "use tandem project --model=mlp:4x1024 --hardware=NAME --devices=2 --batch=256"},
    {"sweep", "overlap",
     "use tandem project --model=mlp:10x1024 --hardware=NAME --devices=2 --batch=512"},
    {"tandem project", "--link", "use --hardware=FILE with a node of such links"},
    {"", "--link",
     "use step_bench --backend=simulated --hardware=FILE, whose machine has such links"},
    {"", "--hostfile", "use --hosts=NODE:COUNT,NODE:COUNT of tandem run"},
    {"tandem explain", "--dispatch-cost=auto",
     "give costs, such as 8us; in a checkout of Tandem tools/torch/step_twin --dispatch-cost "
     "measures "
     "them"},
    {"", "--core-gflops", "no link is scaled to a core's speed; leave it out"},
    {"", "--comm-memory",
     "buckets lie in the GPU's memory, as PyTorch's do by default; leave it out"},
    {"", "--verify", "use step_bench verify, or tandem verify"},
    {"", "--trace", "use step_bench trace --file=FILE, or tandem trace record"},
    {"", "--trace-steps", "use step_bench trace --steps=COUNT"},
    {"", "--contention", "use tandem explain, which tells contention from other costs of ddp"},
    {"", "--contention-pairs",
     "use tandem explain, which tells contention from other costs of ddp"},
    {"tandem", "contention", "use tandem explain, which tells contention from other costs of ddp"},
    {"", "run=contention", "use tandem explain, which tells contention from other costs of ddp"},
    {"", "--check-numerics", "use step_bench verify, which compares the numbers of some steps"},
    {"", "--wait", "leave it out: ranks wait parked, as in every strategy"},
    {"", "--fault=nan", "use --fault=throws, which ends a rank in its step as well"},
    {"", "--calibrate", "use step_bench calibrate --file=FILE"},
    {"", "--calibrate-batches", "use step_bench calibrate --batches=SAMPLES,..."},
    {"", "--models", "use step_bench list, or tandem list models"},
    {"", "--write-workload",
     "workload files train by their FLOPs: use tools/torch/export_workload"},
    {"sweep key", "statistic", "documents have one statistic: leave it out"},
    {"workload key", "measured",
     "export the module anew with tools/torch/export_workload, by its FLOPs, and give "
     "--single-step=TIME to simulated devices"},
    {"workload key", "seconds",
     "export the module anew with tools/torch/export_workload, by its FLOPs, and give "
     "--single-step=TIME to simulated devices"},
    {"workload key", "products",
     "a compute trains by its FLOPs: leave it out, or write the file anew by "
     "tools/torch/export_workload"},
    {"sweep", "seeds", "use tandem run common-questions"},
    {"sweep", "ddp", "use tandem run ddp-cost"},
    {"lesson", "parameters-never-update", "use independent-copies"},
    {"lesson", "mean-of-losses", "use gradients-averaged"},
    {"lesson", "update-on-every-device", "use replicas-rebuilt"},
    {"lesson", "backward-on-one-device", "use gradients-averaged"},
    {"lesson", "device-ids-in-any-order", "use model-on-first-device"},
    {"lesson", "inputs-on-device",
     "use step_bench verify --strategy=dp --batch=64 --devices=2 --input=pageable"},
    {"lesson", "old-weights", "use step_bench verify --strategy=dp --batch=64 --devices=2"},
    {"lesson", "misplaced-tensor", "make such a tensor a buffer, which replicas get a copy of"},
    {"lesson", "sixteen-each", "use even-split"},
    {"lesson", "batch-of-two", "use even-split"},
    {"lesson", "output-shape", "use scalar-outputs"},
    {"lesson", "scaling-flattens", "use tandem run scaling"},
    {"lesson", "threads-slower",
     "use tandem explain, whose steps have the same work as threads and as processes"},
    {"lesson", "interpreter-lock",
     "use tandem explain --batch=64 --dispatch-cost=8us --interpreter-lock"},
    {"sweep", "repeat", "use tandem run research/agreement/repeat.json in a checkout of Tandem"},
});

constexpr bool is_asked_for(const RemovedName& name, std::string_view command,
                            std::string_view word) {
  if (!name.command.empty() && name.command != command) return false;
  const bool is_value = name.word.find('=') != std::string_view::npos;
  return name.word == word.substr(0, word.find(is_value ? ':' : '='));
}

constexpr auto row_of(std::string_view command, std::string_view word) {
  return std::ranges::find_if(
      kRemovedNames, [&](const RemovedName& name) { return is_asked_for(name, command, word); });
}

// No row hides another, and each answers in one line.
static_assert(std::ranges::all_of(kRemovedNames, [](const RemovedName& name) {
  return &*row_of(name.command, name.word) == &name && !name.now.empty() &&
         name.now.find('\n') == std::string_view::npos;
}));

}  // namespace

std::string removal_of(std::string_view command, std::string_view word) {
  const auto found = row_of(command, word);
  if (found == kRemovedNames.end()) return "";
  const std::string_view before = found->command;
  return fmt::format("'{}{}{}' was removed: {}", before, before.empty() ? "" : " ", found->word,
                     found->now);
}

void refuse_removed(std::string_view command, std::string_view word) {
  const std::string removal = removal_of(command, word);
  if (!removal.empty()) fail(ErrorKind::kUsage, "{}", removal);
}

}  // namespace tandem::options
