// SPDX-License-Identifier: Apache-2.0
#include "bench/step/strategy_factory.h"

#include "common/comm/bootstrap.h"
#include "common/parallel/independent.h"
#include "common/parallel/single.h"
#include "ddp/distributed_data_parallel.h"
#include "ddp/dp_all_reduce.h"
#include "dp/data_parallel.h"
#include "dp/ddp_replicate.h"
#include "simulate/engine/simulated_ranks.h"

namespace tandem::bench {
namespace {

// The independent strategy: threads of one process, or this rank's share where ranks are processes.
std::unique_ptr<Strategy> make_independent(Job& job, const Model& model,
                                           const TrainingOptions& training, int micro_batches) {
  if (job.launch == Launch::kThreads) {
    return std::make_unique<IndependentThreads>(*job.platform, model, training, micro_batches);
  }
  const Communicator& ranks = *job.communicator;
  const Shard share = share_of_batch(training.global_batch, ranks.rank(), ranks.size());
  return std::make_unique<Single>(*job.platform, *job.device, model, share, training,
                                  micro_batches);
}

// This rank, or in a simulation all ranks, of the strategy that replicates among processes.
std::unique_ptr<Strategy> make_ddp_replicate(Job& job, const Model& model, const Variant& variant) {
  const auto make_rank = [&](Device& device, Communicator& ranks) -> std::unique_ptr<Strategy> {
    return std::make_unique<dp::DdpReplicate>(*job.platform, device, model, ranks,
                                              variant.training);
  };
  if (job.rank_classes.size() < 2) return make_rank(*job.device, *job.communicator);
  return std::make_unique<simulated::SimulatedRanks>(*job.platform, job.rank_classes,
                                                     variant.dp.communicators, make_rank);
}

}  // namespace

std::unique_ptr<Strategy> make_strategy(Job& job, const Model& model, const Variant& variant) {
  Platform& platform = *job.platform;
  const TrainingOptions& training = variant.training;
  const int micro_batches = variant.reducer.micro_batches;
  const bool is_on_cores = platform.backend() == Backend::kHost;
  if (is_on_cores && variant.reducer.priority == StreamPriority::kHigh) {
    fail(ErrorKind::kUsage,
         "--comm-priority=high is of streams of GPUs, and these devices are cores: leave it out");
  }
  switch (variant.strategy) {
    case StrategyKind::kSingle:
      return std::make_unique<Single>(platform, *job.device, model, Shard{0, training.global_batch},
                                      training, micro_batches);
    case StrategyKind::kIndependent:
      return make_independent(job, model, training, micro_batches);
    case StrategyKind::kDp:
      return std::make_unique<dp::DataParallel>(platform, model, training, variant.dp);
    case StrategyKind::kDpAllReduce:
      return std::make_unique<ddp::DpAllReduce>(
          platform, model, training,
          ddp::DpAllReduceOptions{.shards = variant.shards,
                                  .reducer = variant.reducer,
                                  .communicator = variant.communicator,
                                  .deadline = variant.deadline});
    case StrategyKind::kDdp:
      return std::make_unique<ddp::DistributedDataParallel>(
          platform, *job.device, model, *job.communicator, training, variant.reducer);
    case StrategyKind::kDdpReplicate:
      return make_ddp_replicate(job, model, variant);
  }
  fail(ErrorKind::kLogic, "a strategy without a name");
}

std::unique_ptr<Strategy> make_strategy_together(Bootstrap& bootstrap, Job& job, const Model& model,
                                                 const Variant& variant) {
  std::unique_ptr<Strategy> strategy;
  attempt_together(bootstrap, [&] {
    // An error ends the communicators, so that peers that wait in the constructor end soon.
    strategy = aborting_on_error(job, [&] { return make_strategy(job, model, variant); });
  });
  return strategy;
}

}  // namespace tandem::bench
