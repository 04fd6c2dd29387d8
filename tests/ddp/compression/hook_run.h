// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "common/comm/shared_memory/shared_memory.h"
#include "common/comm/thread_bootstrap.h"
#include "common/parallel/replica.h"
#include "common/tensor/random.h"
#include "ddp/communication_hook.h"
#include "tests/support/host_devices.h"

namespace tandem::test {

using Values = std::vector<float>;
using Gradients = std::vector<Values>;  // bucket by bucket, in order

// Steps of a hook on ranks that are threads, on made-up gradients.
struct HookRun {
  ddp::Compression compression = ddp::Compression::kNone;
  std::vector<std::vector<Shape>> buckets{};
  int ranks = 2;
  int steps = 1;
  // The values of a rank in a step, gradient by gradient over all buckets.
  std::function<Values(int rank, int step, std::size_t gradient, const Shape& shape)> values{};

  [[nodiscard]] std::vector<Shape> shapes() const {
    std::vector<Shape> all;
    for (const auto& bucket : buckets) all.insert(all.end(), bucket.begin(), bucket.end());
    return all;
  }

  [[nodiscard]] Gradients gradients_of(int rank, int step) const {
    Gradients all;
    for (const Shape& shape : shapes()) all.push_back(values(rank, step, all.size(), shape));
    return all;
  }

  // One gradient, by rank.
  [[nodiscard]] std::vector<Values> of_all_ranks(int step, std::size_t gradient) const {
    std::vector<Values> all;
    for (int rank = 0; rank < ranks; ++rank) all.push_back(gradients_of(rank, step)[gradient]);
    return all;
  }
};

// Uniform numbers, others for each rank, step and gradient.
[[nodiscard]] inline Values random_values(int rank, int step, std::size_t gradient,
                                          const Shape& shape) {
  Values values(static_cast<std::size_t>(shape.count()));
  fill_uniform(values, 1000 * gradient + static_cast<std::uint64_t>(100 * rank + step), 0, 1);
  return values;
}

// One rank's buckets, in the communicator's memory.
struct HookBuckets {
  HookBuckets(Communicator& communicator, const std::vector<std::vector<Shape>>& shapes) {
    for (const auto& bucket : shapes) {
      ParameterLayout layout;
      for (const Shape& shape : bucket) layout.add("gradient", shape);
      arenas.push_back(make_arena(communicator, layout));
      views.insert(views.end(), arenas.back().tensors.begin(), arenas.back().tensors.end());
      hook.push_back(arenas.back().flat);
    }
  }

  std::vector<Arena> arenas;
  TensorList views;  // of all buckets
  std::vector<Span<float>> hook;
};

// What the gradients became, by step, on a rank.
[[nodiscard]] inline std::vector<Gradients> run_rank(const HookRun& run, Bootstrap& bootstrap,
                                                     Device& device) {
  const auto communicator = make_shared_memory_communicator(bootstrap, device);
  HookBuckets buckets(*communicator, run.buckets);
  const auto hook = ddp::make_communication_hook(run.compression, device, *communicator);
  hook->set_buckets(buckets.hook);
  const auto stream = device.make_stream(StreamPriority::kNormal);
  std::vector<Gradients> results;
  for (int step = 0; step < run.steps; ++step) {
    const Gradients before = run.gradients_of(bootstrap.rank(), step);
    for (std::size_t i = 0; i < before.size(); ++i) put(device, buckets.views[i], before[i]);
    for (std::size_t b = 0; b < run.buckets.size(); ++b) hook->reduce(*stream, b);
    stream->synchronize();
    results.emplace_back();
    for (const Span<float> view : buckets.views) {
      results.back().push_back(read_back<float>(device, view));
    }
  }
  return results;
}

// What the gradients became, by step: the same bits on all ranks.
[[nodiscard]] inline std::vector<Gradients> run_hook(const HookRun& run) {
  const auto platform = host_devices(run.ranks);
  std::vector<std::vector<Gradients>> of_rank(static_cast<std::size_t>(run.ranks));
  run_ranks_as_threads(run.ranks, [&](Bootstrap& bootstrap) {
    const int rank = bootstrap.rank();
    of_rank[static_cast<std::size_t>(rank)] = run_rank(run, bootstrap, platform->device(rank));
  });
  for (const auto& results : of_rank) EXPECT_EQ(results, of_rank.front()) << "ranks differ";
  return of_rank.front();
}

}  // namespace tandem::test
