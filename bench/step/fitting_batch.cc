// SPDX-License-Identifier: Apache-2.0
#include "bench/step/fitting_batch.h"

#include <fmt/format.h>

#include "bench/job/job.h"
#include "bench/step/strategy_factory.h"

namespace tandem::bench {
namespace {

// ddp rebuilds its buckets in the second step.
constexpr int kSteps = 3;

bool fits(Bootstrap& bootstrap, StepOptions options, const Model& model, std::int64_t batch) {
  options.variant.training.global_batch = batch;
  try {
    Job job = open_job(bootstrap, options.job);
    const auto strategy = make_strategy_together(bootstrap, job, model, options.variant);
    for (int step = 0; step < kSteps; ++step) {
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
  const std::string told = batch ? fmt::format("the largest batch that fits is {}, {} on a device",
                                               *batch, *batch / options.job.devices)
                                 : std::string("no batch fits");
  return {error.kind(), fmt::format("{}; {}", error.what(), told)};
}

}  // namespace tandem::bench
