// SPDX-License-Identifier: Apache-2.0
#include "tests/support/training.h"

#include "common/comm/shared_memory/shared_memory.h"
#include "common/comm/thread_bootstrap.h"
#include "common/model/linear_stack.h"
#include "common/parallel/independent.h"
#include "common/runtime/registry.h"
#include "ddp/distributed_data_parallel.h"
#include "ddp/dp_all_reduce.h"
#include "dp/data_parallel.h"
#include "dp/ddp_replicate.h"

namespace tandem::test {
namespace {

Outcome run_steps(Strategy& strategy, Platform& platform, const Training& run) {
  if (run.before_steps) run.before_steps(platform);
  for (int step = 0; step < run.steps; ++step) {
    strategy.step();
    if (!run.after_step) continue;
    strategy.synchronize();
    run.after_step(platform, step);
  }
  strategy.synchronize();
  return {values_of(platform, strategy.weights()), values_of(platform, strategy.gradients())};
}

std::unique_ptr<Strategy> make_local(Platform& platform, const Model& model, const Training& run) {
  if (run.strategy == "dp") {
    return std::make_unique<dp::DataParallel>(platform, model, run.training, run.dp);
  }
  if (run.strategy == "dp-allreduce") {
    return std::make_unique<ddp::DpAllReduce>(
        platform, model, run.training,
        ddp::DpAllReduceOptions{.shards = run.shards, .reducer = run.reducer});
  }
  if (run.strategy == "independent") {
    return std::make_unique<IndependentThreads>(platform, model, run.training,
                                                run.reducer.micro_batches);
  }
  TANDEM_CHECK(run.strategy == "single", "no strategy '{}'", run.strategy);
  return std::make_unique<Single>(platform, platform.device(0), model,
                                  Shard{0, run.training.global_batch}, run.training,
                                  run.reducer.micro_batches);
}

std::unique_ptr<Strategy> make_rank(Platform& platform, const Model& model, const Training& run,
                                    Communicator& communicator) {
  Device& device = platform.device(communicator.rank());
  if (run.strategy == "ddp-replicate") {
    return std::make_unique<dp::DdpReplicate>(platform, device, model, communicator, run.training);
  }
  return std::make_unique<ddp::DistributedDataParallel>(platform, device, model, communicator,
                                                        run.training, run.reducer);
}

Outcome train_ranks(Platform& platform, const Model& model, const Training& run) {
  std::vector<Outcome> outcomes(static_cast<std::size_t>(run.devices));
  run_ranks_as_threads(run.devices, [&](Bootstrap& bootstrap) {
    Device& device = platform.device(bootstrap.rank());
    device.bind_this_thread();
    const auto communicator = make_shared_memory_communicator(bootstrap, device);
    const auto strategy = make_rank(platform, model, run, *communicator);
    outcomes[static_cast<std::size_t>(bootstrap.rank())] = run_steps(*strategy, platform, run);
  });
  for (const Outcome& outcome : outcomes) {
    TANDEM_CHECK(run.strategy == "ddp-replicate" || outcome == outcomes.front(),
                 "ranks ended with different bits");
  }
  return outcomes.front();
}

}  // namespace

Outcome train(const Model& model, const Training& run) {
  PlatformOptions options = run.platform;
  options.devices = run.devices;
  const auto platform = open_platform(run.backend, options);
  if (run.strategy.starts_with("ddp")) return train_ranks(*platform, model, run);
  const auto strategy = make_local(*platform, model, run);
  return run_steps(*strategy, *platform, run);
}

std::unique_ptr<Model> exact_model() {
  return std::make_unique<Mlp>("exact", std::vector<std::int64_t>{8, 16, 16, 8});
}

TrainingOptions exact_training(std::int64_t batch) {
  return {.global_batch = batch, .distribution = Distribution::kSmallIntegers};
}

}  // namespace tandem::test
