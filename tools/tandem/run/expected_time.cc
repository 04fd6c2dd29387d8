// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/expected_time.h"

#include <algorithm>
#include <map>

#include "common/base/units.h"
#include "tools/tandem/run/launch_times.h"
#include "tools/tandem/run/measuring.h"

namespace tandem::cli {
namespace {

constexpr Seconds kWarmUp{0.2};  // step_bench's defaults
constexpr int kWarmUpSteps = 5;

// The assumed speeds before any measurement: rounded down from the speeds of models with 1 to 100
// million parameters on a core with AVX2 and on a data-centre GPU, in fp32. The first launch
// corrects the estimate.
constexpr double kFlopsOfCore = 50e9;
constexpr double kFlopsOfGpu = 10e12;
// The speed of seeding weights and of the first touch of weights, gradients and state.
constexpr double kParametersPerSecond = 100e6;

}  // namespace

Seconds expected_time(const results::Cell& cell, const ModelWork& size, const SampleTime& samples,
                      bool is_host) {
  const double flops = size.flops_per_sample * static_cast<double>(cell.global_batch);
  const Seconds step{flops / cell.devices / (is_host ? kFlopsOfCore : kFlopsOfGpu)};
  return start_and_end(cell) + Seconds{size.parameters / kParametersPerSecond} +
         std::max(kWarmUp, kWarmUpSteps * step) +
         std::max(Seconds{parse_duration(samples.min_time, "min_time")},
                  samples.min_samples * step);
}

std::vector<Seconds> expected_times(const std::vector<results::Cell>& cells,
                                    const SampleTime& samples, const std::string& backend,
                                    const Launcher& launcher, const Interrupts& interrupts) {
  const bool is_host = is_on_host(backend);
  std::map<std::string, ModelWork> sizes;
  std::vector<Seconds> times;
  for (const results::Cell& cell : cells) {
    const auto [size, is_new] = sizes.try_emplace(cell.model);
    if (is_new && !interrupts.requested()) size->second = launcher.work_of(cell);
    times.push_back(expected_time(cell, size->second, samples, is_host));
  }
  return times;
}

}  // namespace tandem::cli
