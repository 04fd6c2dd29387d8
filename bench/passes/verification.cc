// SPDX-License-Identifier: Apache-2.0
#include "bench/passes/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "bench/driver/sampler.h"
#include "bench/step/strategy_factory.h"
#include "common/comm/bootstrap.h"
#include "common/parallel/shard_by_shard.h"

namespace tandem::bench {

namespace {

void add(Disagreement& worst, const TensorValues& reference, const TensorValues& other) {
  worst.element = std::max(worst.element, relative_difference(reference, other));
  worst.distance = std::max(worst.distance, relative_distance(reference, other));
  worst.projection = std::max(worst.projection, projection_error(reference, other));
}

// A thousand times the distance by which another order of summation moves an element.
constexpr float kMoreThanRounding = 1e-3F;

// The weights, with zeros where the gradient of any step is too small beside its tensor's largest
// element to have a certain sign.
TensorValues without_rounding(TensorValues weights, const std::vector<TensorValues>& gradients) {
  for (const TensorValues& of_step : gradients) {
    TANDEM_CHECK(of_step.size() == weights.size(), "{} and {} tensors", of_step.size(),
                 weights.size());
    for (std::size_t tensor = 0; tensor < weights.size(); ++tensor) {
      const std::vector<float>& gradient = of_step[tensor];
      TANDEM_CHECK(gradient.size() == weights[tensor].size(), "tensors of {} and {} elements",
                   gradient.size(), weights[tensor].size());
      float largest = 0;
      for (const float value : gradient) largest = std::max(largest, std::abs(value));
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        if (std::abs(gradient[i]) <= kMoreThanRounding * largest) weights[tensor][i] = 0;
      }
    }
  }
  return weights;
}

constexpr int kSteps = 3;

// Calls `between(step)` after each step but the last, with the step's number, from 0.
template <class Between>
TrainedValues train(Strategy& strategy, Platform& platform, Between&& between) {
  TrainedValues training;
  for (int step = 0; step < kSteps; ++step) {
    strategy.step();
    strategy.synchronize();
    training.gradients.push_back(values_of(platform, strategy.gradients()));
    if (step + 1 < kSteps) between(step);
  }
  training.weights = values_of(platform, strategy.weights());
  return training;
}

bool equal_on_all_ranks(Bootstrap& bootstrap, const TrainedValues& mine) {
  const std::vector<std::string> sums =
      bootstrap.all_gather(std::to_string(checksum(mine.weights)));
  return std::all_of(sums.begin(), sums.end(), [&](const auto& sum) { return sum == sums[0]; });
}

// Whether the model computes by shard: shards that are normalised each on its own are another
// computation than the whole batch.
bool is_by_shard(const StepOptions& options, const Model& model) {
  return model.depends_on_shard() && shards_of(options).size() > 1;
}

// The narrowest format in which the step multiplies, on any rank: fp32's convolutions round their
// factors where the GPU's library does.
Precision factors_of(Bootstrap& bootstrap, const Strategy& strategy, Precision precision) {
  const auto resolved = strategy.resolved_options();
  const auto convolutions = resolved.find("convolutions");
  const bool is_tf32 = convolutions != resolved.end() && convolutions->second.ends_with("tf32");
  const std::vector<std::string> all = bootstrap.all_gather(is_tf32 ? "tf32" : "");
  const bool rounds = std::ranges::find(all, "tf32") != all.end();
  return precision == Precision::kFp32 && rounds ? Precision::kTf32 : precision;
}

// Refuses a model in a narrow format whose normalisation takes differences of gradients that
// roundings have moved apart: the differences are then wrong by any part where shares of the batch
// are not a power of two of equal shares.
void check_comparable(const StepOptions& options, const Model& model, Precision factors,
                      Backend backend) {
  if (!is_by_shard(options, model) || factors == Precision::kFp32) return;
  if (rounding_of(Backend::kHost, shards_of(options)) == Rounding::kAlike) return;
  fail(ErrorKind::kUsage,
       "verify: {} in {} on shards that are not a power of two of equal ones differs by its "
       "roundings as much as by mistakes: use --precision=fp32{} or another batch",
       model.name(), name_of(factors), backend == Backend::kCuda ? " --conv-fp32=on" : "");
}

// The result of training, and its factors.
struct TrainedModel {
  TrainedValues values;
  Precision factors;
};

TrainedModel train_together(Bootstrap& bootstrap, Job& job, const StepOptions& options,
                            const Model& model) {
  const auto strategy = make_strategy_together(bootstrap, job, model, options.variant);
  Platform& platform = *job.platform;
  const Precision factors = factors_of(bootstrap, *strategy, options.variant.training.precision);
  check_comparable(options, model, factors, platform.backend());
  std::vector<TensorValues> updated;
  TrainedValues mine = train(*strategy, platform, [&](int) {
    if (is_by_shard(options, model)) updated.push_back(values_of(platform, strategy->weights()));
  });
  mine.updated = std::move(updated);
  return {std::move(mine), factors};
}

// Trains one device on the shards in turn, each step from the weights that the strategy had: where
// signs of activations decide, roundings of earlier steps would grow.
TrainedValues train_by_shard(Job& job, const Model& model, const StepOptions& options,
                             const std::vector<TensorValues>& starts) {
  ShardByShard reference(*job.platform, *job.device, model, shards_of(options),
                         options.variant.training);
  std::vector<TensorValues> updated;
  TrainedValues values = train(reference, *job.platform, [&](int step) {
    updated.push_back(values_of(*job.platform, reference.weights()));
    reference.load(starts.at(static_cast<std::size_t>(step)));
  });
  values.updated = std::move(updated);
  return values;
}

// Trains the same variant on one device alone; on rank 0.
TrainedValues train_reference(Job& job, const Model& model, const StepOptions& options,
                              const std::vector<TensorValues>& starts) {
  if (is_by_shard(options, model)) return train_by_shard(job, model, options, starts);
  Variant single = options.variant;
  single.strategy = StrategyKind::kSingle;
  const auto strategy = make_strategy(job, model, single);
  return train(*strategy, *job.platform, [](int) {});
}

// Rank 0's disagreement, on all ranks.
Disagreement agreed(Bootstrap& bootstrap, const Disagreement& found) {
  return {.element = root_value(bootstrap, found.element),
          .distance = root_value(bootstrap, found.distance),
          .projection = root_value(bootstrap, found.projection)};
}

Verification judge(const StepOptions& options, const Model& model, Backend backend,
                   const TrainedModel& mine, const Disagreement& found, bool equal) {
  const int devices = options.job.devices;
  const Disagreement bounds = bounds_of(mine.factors, rounding_of(backend, shards_of(options)));
  const bool passed = equal && within(found, bounds);
  return {
      passed ? Verification::Outcome::kAgrees : Verification::Outcome::kDiffers,
      fmt::format("{}: over {} steps on {} device{} gradients and weights of {} in {} differ "
                  "from single's{} {}; ranks hold {}; checksum of the weights {:016x}",
                  passed ? "verified" : "WRONG", kSteps, devices, devices == 1 ? "" : "s",
                  to_string(options.variant.strategy), name_of(mine.factors),
                  is_by_shard(options, model) ? ", shard by shard," : "", to_text(found, bounds),
                  equal ? "the same bits" : "DIFFERENT bits", checksum(mine.values.weights))};
}

}  // namespace

Rounding rounding_of(Backend backend, const std::vector<Shard>& shards) {
  if (shards.size() == 1) return Rounding::kAlike;
  const bool are_equal = std::all_of(shards.begin(), shards.end(), [&](const Shard& shard) {
    return shard.count == shards.front().count;
  });
  const bool is_alike =
      backend == Backend::kHost && are_equal && std::has_single_bit(shards.size());
  return is_alike ? Rounding::kAlike : Rounding::kApart;
}

Steps steps_of(OptimizerKind optimizer) {
  return optimizer == OptimizerKind::kSgd ? Steps::kByGradient : Steps::kNormalised;
}

Disagreement disagreement(const TrainedValues& reference, const TrainedValues& other, Steps steps) {
  TANDEM_CHECK(reference.gradients.size() == other.gradients.size(), "{} and {} steps",
               reference.gradients.size(), other.gradients.size());
  TANDEM_CHECK(reference.updated.size() == other.updated.size(), "{} and {} steps compared alone",
               reference.updated.size(), other.updated.size());
  Disagreement worst;
  const auto add_weights = [&](const TensorValues& first, const TensorValues& second) {
    if (steps == Steps::kByGradient) return add(worst, first, second);
    add(worst, without_rounding(first, reference.gradients),
        without_rounding(second, reference.gradients));
  };
  add_weights(reference.weights, other.weights);
  for (std::size_t step = 0; step < reference.updated.size(); ++step) {
    add_weights(reference.updated[step], other.updated[step]);
  }
  for (std::size_t step = 0; step < reference.gradients.size(); ++step) {
    add(worst, reference.gradients[step], other.gradients[step]);
  }
  return worst;
}

// In fp32 every element counts: another order of summation moves an element by some 1e-6 of its
// tensor's largest.
//
// A number of tf32 or bf16 that an fp32 rounding carries to its neighbour moves by 2^-11 or 2^-8,
// and an activation near zero for which ReLU then decides otherwise takes a sample's whole part of
// a gradient along: single elements move by up to half of the largest, whole tensors by up to 4 %
// of their norm, and hardly at all along the reference, 0.2 %, since roundings point anywhere. A
// silent rank of N makes the gradient shorter by 1/N, on average over the ranks: the bound of 1/64
// detects a silent rank for all N that one node has. Where both sides round alike such differences
// do not occur, except that Adam divides by a gradient of few bits: elements of weights then move
// by up to 1.3 %.
Disagreement bounds_of(Precision precision, Rounding rounding) {
  if (precision == Precision::kFp32) return {.element = 1e-3, .distance = 1e-3, .projection = 1e-3};
  if (rounding == Rounding::kAlike) {
    return {.element = 1.0 / 32, .distance = 1e-2, .projection = 1e-2};
  }
  return {.element = HUGE_VAL, .distance = 1.0 / 8, .projection = 1.0 / 64};
}

bool within(const Disagreement& found, const Disagreement& bounds) {
  return found.element <= bounds.element && found.distance <= bounds.distance &&
         found.projection <= bounds.projection;
}

std::string to_text(const Disagreement& found, const Disagreement& bounds) {
  const std::string element =
      std::isfinite(bounds.element) ? fmt::format("at most {:.0e}", bounds.element) : "no bound";
  return fmt::format(
      "in an element by {:.1e} of its tensor's largest ({}), in a tensor by {:.1e} of its norm (at "
      "most {:.1e}), along the reference by {:.1e} (at most {:.1e})",
      found.element, element, found.distance, bounds.distance, found.projection, bounds.projection);
}

Verification verify(Bootstrap& bootstrap, Job& job, const StepOptions& options,
                    const Model& model) {
  if (options.variant.strategy == StrategyKind::kIndependent) {
    fail(ErrorKind::kUsage,
         "verify: independent devices train apart and have no common result; "
         "verify another strategy");
  }
  try {
    const TrainedModel mine = train_together(bootstrap, job, options, model);
    // The other ranks of a strategy with a root are sent weights and keep none.
    const bool equal = options::traits_of(options.variant.strategy).has_root() ||
                       equal_on_all_ranks(bootstrap, mine.values);
    Disagreement found;
    attempt_together(bootstrap, [&] {
      if (bootstrap.rank() != 0) return;
      found = disagreement(train_reference(job, model, options, mine.values.updated), mine.values,
                           steps_of(options.variant.training.optimizer.kind));
    });
    return judge(options, model, job.platform->backend(), mine, agreed(bootstrap, found), equal);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kOutOfMemory) throw;
    return {Verification::Outcome::kNotVerified,
            fmt::format("not verified: does not fit ({})", error.what())};
  }
}

}  // namespace tandem::bench
