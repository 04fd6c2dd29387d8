// SPDX-License-Identifier: Apache-2.0
//
// A rank of a job on one node or several, for the tests of this folder.
//
//   rank_of_nodes weights           ddp trains on small integers, where every sum is exact; rank 0
//                                   says where ranks ran and what came out, by bits
//   rank_of_nodes endless TIMEOUT   ddp trains until something ends it; rank 0 counts its steps;
//                                   ranks wait for each other that many seconds at most
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench/driver/ranks_main.h"
#include "bench/job/job.h"
#include "common/comm/bootstrap.h"
#include "ddp/distributed_data_parallel.h"
#include "tests/support/training.h"

namespace tandem::test {
namespace {

using bench::Job;

std::unique_ptr<Strategy> make_ddp(Job& job, const Model& model, const TrainingOptions& training) {
  // The collective averages: sums of whole numbers, scaled once. Divided before, thirds would be
  // rounded, and summed in the order that the transport likes.
  ddp::ReducerOptions reducer{.grads = ddp::GradsMode::kViews};
  reducer.buckets = {.first = Bytes{100}, .rest = Bytes{1000}};  // several buckets
  return std::make_unique<ddp::DistributedDataParallel>(*job.platform, *job.device, model,
                                                        *job.communicator, training, reducer);
}

Job open(Bootstrap& bootstrap, Nanoseconds deadline) {
  bench::JobOptions options;
  options.devices = bootstrap.size();
  options.launch = bench::Launch::kProcesses;
  options.backend = BackendChoice::kHost;
  options.platform.oversubscribe = true;  // the nodes share the cores of this machine
  options.communicator.deadline = deadline;
  return bench::open_job(bootstrap, options);
}

// The same on every rank, or a failure.
std::uint64_t agreed(Bootstrap& bootstrap, std::uint64_t mine) {
  for (const std::string& theirs : bootstrap.all_gather(std::to_string(mine))) {
    TANDEM_CHECK(theirs == std::to_string(mine), "ranks ended with different bits");
  }
  return mine;
}

int print_weights(Bootstrap& bootstrap) {
  Job job = open(bootstrap, std::chrono::seconds(60));
  const auto model = exact_model();
  const auto ddp = make_ddp(job, *model, exact_training(8 * bootstrap.size()));
  ddp->step();
  ddp->synchronize();
  const auto weights = agreed(bootstrap, checksum(values_of(*job.platform, ddp->weights())));
  const auto gradients = agreed(bootstrap, checksum(values_of(*job.platform, ddp->gradients())));
  const std::string where =
      fmt::format("{}:{}", job.nodes.node_of(bootstrap.rank()), job.device->id().index);
  const auto all = bootstrap.all_gather(where);
  if (bootstrap.rank() != 0) return 0;
  fmt::print("ranks at node:device {}\n", fmt::join(all, " "));
  fmt::print("weights {:016x} gradients {:016x}\n", weights, gradients);
  return 0;
}

int train_for_ever(Bootstrap& bootstrap, Nanoseconds deadline) {
  Job job = open(bootstrap, deadline);
  const auto model = exact_model();
  const auto ddp = make_ddp(job, *model, exact_training(8 * bootstrap.size()));
  for (int step = 1;; ++step) {
    ddp->step();
    ddp->synchronize();
    if (bootstrap.rank() != 0 || step % 100 != 0) continue;
    fmt::print("step {}\n", step);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace tandem::test

int main(int argc, char** argv) {
  using namespace tandem;
  const std::string what = argc > 1 ? argv[1] : "";
  const bool is_endless = what == "endless" && argc > 2;
  const Nanoseconds deadline = std::chrono::seconds(is_endless ? std::atoi(argv[2]) : 60);
  const auto body = [&](Bootstrap& bootstrap) {
    if (what == "weights") return test::print_weights(bootstrap);
    if (is_endless) return test::train_for_ever(bootstrap, deadline);
    fail(ErrorKind::kUsage, "use rank_of_nodes weights, or endless TIMEOUT");
  };
  return bench::run_ranks_main({.program = "rank_of_nodes", .deadline = deadline}, argc, argv,
                               body);
}
