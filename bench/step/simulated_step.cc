// SPDX-License-Identifier: Apache-2.0
#include "bench/step/simulated_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/driver/sampler.h"
#include "bench/job/job.h"
#include "bench/job/simulated_job.h"
#include "bench/step/strategy_factory.h"
#include "bench/step/workload_source.h"

namespace tandem::bench {
namespace {

// ddp rebuilds its buckets in the second step.
constexpr int kTriedSteps = 3;

bool fits(Bootstrap& bootstrap, StepOptions options, const Model& model, std::int64_t batch) {
  options.variant.training.global_batch = batch;
  try {
    Job job = open_job(bootstrap, options.job);
    const auto strategy = make_strategy_together(bootstrap, job, model, options.variant);
    for (int step = 0; step < kTriedSteps; ++step) {
      strategy->step();
      strategy->synchronize();
    }
  } catch (const Error& error) {
    // A batch that the options refuse, such as one that --accumulate does not divide, is none.
    if (error.kind() != ErrorKind::kOutOfMemory && error.kind() != ErrorKind::kUsage) throw;
    return false;
  }
  return true;
}

constexpr int kMostRounds = 100;
constexpr double kNearEnough = 1e-6;  // of the step
constexpr double kTick = 1e-9;        // seconds: simulated times are whole nanoseconds
constexpr double kLargestFactor = 1e9;

// A step of `single`, in one piece, with what the command line says of training and machine.
class SingleStep {
 public:
  explicit SingleStep(const StepOptions& options)
      : options_(options), model_(make_model_for(options)) {
    options_.variant.strategy = StrategyKind::kSingle;
    // A shard is one micro-batch of a device's share.
    options_.variant.training.global_batch =
        shards_of(options).front().count * options.variant.reducer.micro_batches;
    options_.variant.reducer.micro_batches = 1;
    options_.variant.training.interpreter.lock = InterpreterLock::kOff;
    options_.job.devices = 1;
    options_.job.launch = Launch::kThreads;
    options_.job.has_root = false;
    if (options_.job.platform.device_memory.size() > 1) {
      options_.job.platform.device_memory.resize(1);
    }
  }

  [[nodiscard]] double seconds(double factor) {
    options_.job.scale = factor;
    const auto bootstrap = simulated_ranks(options_.job);
    Job job = open_job(*bootstrap, options_.job);
    const auto strategy = make_strategy(job, *model_, options_.variant);
    Sampler sampler(*strategy, *job.communicator, 1, clocks_of(job),
                    [&job] { return job.platform->now(); });
    static_cast<void>(sampler.warm_up({.steps = kLeastWarmupSteps}));
    return sampler.sample().count();
  }

 private:
  StepOptions options_;
  const std::unique_ptr<Model> model_;
};

struct Point {
  double factor = 0;
  double seconds = 0;
};

// On the line between two factors, and in every third round in the middle, as one end of the line
// may stay where it is.
double factor_between(Point below, Point above, double wanted, SingleStep& single) {
  for (int round = 1; round < kMostRounds; ++round) {
    const double share =
        round % 3 == 0 ? 0.5 : (wanted - below.seconds) / (above.seconds - below.seconds);
    const double factor = below.factor + share * (above.factor - below.factor);
    const Point found{factor, single.seconds(factor)};
    if (std::abs(found.seconds - wanted) <= std::max(kTick, kNearEnough * wanted)) {
      return found.factor;
    }
    (found.seconds < wanted ? below : above) = found;
  }
  return above.factor;
}

// The factor with which the step of `single` takes the time that is given. The step grows with the
// factor, but not in proportion, as calls of the host and copies keep their times. So it is
// simulated with one factor after another until it is near enough.
double factor_of(const StepOptions& options) {
  const double wanted = Seconds(*options.single_step).count();
  SingleStep single(options);
  const double least = single.seconds(0);
  if (least > wanted) {
    fail(ErrorKind::kUsage,
         "--single-step={}: what is not scaled (the host's calls, copies of the batch, the update) "
         "takes {}: give a longer step, a host with cheaper calls, or a lower --dispatch-cost",
         tandem::to_string(Seconds(wanted)), tandem::to_string(Seconds(least)));
  }
  Point below{0, least};
  Point above{1, single.seconds(1)};
  while (above.seconds < wanted) {
    below = above;
    above.factor *= 4;
    above.seconds = single.seconds(above.factor);
    if (above.factor < kLargestFactor) continue;
    fail(ErrorKind::kUsage, "--single-step={}: no operation of {} takes time: leave it out",
         tandem::to_string(Seconds(wanted)), options.model);
  }
  return factor_between(below, above, wanted, single);
}

}  // namespace

std::optional<std::int64_t> largest_fitting_batch(Bootstrap& bootstrap, const StepOptions& options,
                                                  const Model& model) {
  const std::int64_t devices = options.job.devices;
  std::int64_t fitting = 0;  // samples of a device
  std::int64_t failing = (options.variant.training.global_batch + devices - 1) / devices;
  while (failing - fitting > 1) {
    const std::int64_t share = fitting + (failing - fitting) / 2;
    (fits(bootstrap, options, model, share * devices) ? fitting : failing) = share;
  }
  if (fitting == 0) return std::nullopt;
  return fitting * devices;
}

Error with_fitting_batch(const Error& error, Bootstrap& bootstrap, const StepOptions& options,
                         const Model& model) {
  if (!options.job.calibration.empty()) return error;
  const auto batch = largest_fitting_batch(bootstrap, options, model);
  const std::string advice = batch
                                 ? fmt::format("the largest batch that fits is {}, {} on a device",
                                               *batch, *batch / options.job.devices)
                                 : std::string("no batch fits");
  return {error.kind(), fmt::format("{}; {}", error.what(), advice)};
}

void scale_to_single_step(StepOptions& options) {
  if (!options.single_step) return;
  const auto error = capture_error([&] { options.job.scale = factor_of(options); });
  // A batch that does not fit is reported, and recorded, where the step itself is simulated.
  if (error && error->kind() != ErrorKind::kOutOfMemory) throw Error(*error);
}

}  // namespace tandem::bench
