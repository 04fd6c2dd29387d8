// SPDX-License-Identifier: Apache-2.0
#include "bench/step/replay_checks.h"

#include "bench/step/step_checks.h"
#include "common/parallel/step_graph.h"
#include "ddp/all_reduce_rank.h"

namespace tandem::bench {
namespace {

void check_strategy(const StepFlags& flags, StrategyKind strategy, Launch launch) {
  const bool is_in_threads = launch == Launch::kThreads && strategy != StrategyKind::kSingle;
  const bool is_independent = strategy == StrategyKind::kIndependent;
  refuse_replay(
      is_in_threads, to_string(strategy) + (is_independent ? " as threads" : ""),
      "threads of one process enqueue a step on several devices at once, and one thread captures "
      "one device's; use single, ddp, or independent as processes");
  refuse_replay(strategy == StrategyKind::kDdpReplicate, "ddp-replicate",
                "it is there to be compared with dp, which cannot be replayed; use ddp");
  require(flags.backend != "host",
          "--cuda-graph=on needs the CUDA back end, and this is host: leave it out");
}

void check_host_part(const StepFlags& flags) {
  refuse_replay(flags.check_numerics == "on", "--check-numerics",
                "the host looks at each gradient in each step; leave it out");
  refuse_replay(!flags.fault.empty(), "--fault",
                "the host meets it in a phase of a step; leave it out");
  refuse_replay(flags.check_order == "on", "--check-order",
                "the hosts compare each call before it is made; leave it out");
  refuse_replay(flags.free_running > 1 && flags.phases == "on", "--free-running with --phases=on",
                "times are of the latest replay alone; add --phases=off");
}

}  // namespace

void check_replay(const StepFlags& flags, const Variant& variant, Launch launch) {
  if (variant.training.replay == StepReplay::kOff) return;
  check_strategy(flags, variant.strategy, launch);
  check_host_part(flags);
  check_replayable(variant.training, variant.reducer);
}

}  // namespace tandem::bench
