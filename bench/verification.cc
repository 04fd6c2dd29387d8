// SPDX-License-Identifier: Apache-2.0
#include "bench/verification.h"

#include <algorithm>
#include <cstring>

#include "bench/strategy_factory.h"
#include "bench/training_agreement.h"
#include "common/comm/agreement.h"
#include "common/parallel/step_graph.h"

namespace tandem::bench {
namespace {

constexpr int kSteps = 3;

// Of a graph more, to see replays that follow one another.
int steps_of(const Variant& variant) {
  return variant.training.replay == StepReplay::kOn ? StepGraph::kCapturedStep + 2 : kSteps;
}

TrainedValues train(Strategy& strategy, Platform& platform, int steps) {
  TrainedValues training;
  for (int step = 0; step < steps; ++step) {
    strategy.step();
    strategy.synchronize();
    training.gradients.push_back(values_of(platform, strategy.gradients()));
  }
  training.weights = values_of(platform, strategy.weights());
  return training;
}

// FNV-1a over the bits of all values.
std::uint64_t checksum(const TensorValues& tensors) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto& tensor : tensors) {
    for (const float value : tensor) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      hash = (hash ^ bits) * 0x100000001b3;
    }
  }
  return hash;
}

bool equal_on_all_ranks(Bootstrap& bootstrap, const TrainedValues& mine) {
  const std::vector<std::string> sums =
      bootstrap.all_gather(std::to_string(checksum(mine.weights)));
  return std::all_of(sums.begin(), sums.end(), [&](const auto& sum) { return sum == sums[0]; });
}

// Of the same variant, by one device alone; on rank 0.
TrainedValues train_reference(Place& place, const Model& model, const Variant& variant) {
  Variant single = variant;
  single.strategy = StrategyKind::kSingle;
  single.training.replay = StepReplay::kOff;
  const auto strategy = make_strategy(place, Launch::kThreads, model, single);
  return train(*strategy, *place.platform, steps_of(variant));
}

// Rank 0's finding, on all ranks.
Disagreement agreed(Bootstrap& bootstrap, const Disagreement& found) {
  const auto from_root = [&](double value) {
    return std::stod(broadcast(bootstrap, fmt::format("{:.17g}", value), 0));
  };
  return {.element = from_root(found.element),
          .distance = from_root(found.distance),
          .projection = from_root(found.projection)};
}

Verification judge(const StepOptions& options, Backend backend, const Disagreement& found,
                   bool equal, std::uint64_t weights) {
  const int devices = options.place.devices;
  const Disagreement bounds =
      bounds_of(options.variant.training.precision,
                rounding_of(backend, devices, options.variant.reducer.micro_batches));
  const bool passed = equal && within(found, bounds);
  return {passed,
          fmt::format("{}: over {} steps on {} device{} gradients and weights of {} differ from "
                      "single's {}; ranks hold {}; checksum of the weights {:016x}",
                      passed ? "verified" : "WRONG", steps_of(options.variant), devices,
                      devices == 1 ? "" : "s", to_string(options.variant.strategy),
                      to_text(found, bounds), equal ? "the same bits" : "DIFFERENT bits", weights)};
}

}  // namespace

Verification verify(Bootstrap& bootstrap, Place& place, const StepOptions& options,
                    const Model& model) {
  if (options.variant.strategy == StrategyKind::kIndependent) {
    fail(ErrorKind::kUsage,
         "--verify: independent devices train apart and have no common result; verify "
         "another strategy");
  }
  if (model.depends_on_shard() &&
      options.place.devices * options.variant.reducer.micro_batches > 1) {
    fail(ErrorKind::kUsage,
         "--verify: batch normalisation makes {} on shards another computation than on the whole "
         "batch, which single has; verify one device without --accumulate, or another model",
         model.name());
  }
  try {
    const TrainedValues mine = [&] {
      const auto strategy =
          make_strategy_together(bootstrap, place, options.place.launch, model, options.variant);
      return train(*strategy, *place.platform, steps_of(options.variant));
    }();
    // The other ranks of ddp-replicate are sent weights; they keep none.
    const bool equal = has_root(options.variant.strategy) || equal_on_all_ranks(bootstrap, mine);
    Disagreement found;
    attempt_together(bootstrap, [&] {
      if (bootstrap.rank() != 0) return;
      found = disagreement(train_reference(place, model, options.variant), mine,
                           steps_of(options.variant.training.optimizer.kind));
    });
    return judge(options, place.platform->backend(), agreed(bootstrap, found), equal,
                 checksum(mine.weights));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kOutOfMemory) throw;
    return {false, fmt::format("not verified: does not fit ({})", error.what())};
  }
}

}  // namespace tandem::bench
