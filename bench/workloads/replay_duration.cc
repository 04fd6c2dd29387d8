// SPDX-License-Identifier: Apache-2.0
#include "bench/workloads/replay_duration.h"

#include <fmt/format.h>

#include "bench/driver/root_value.h"
#include "bench/job/core_speed.h"
#include "bench/step/shards.h"
#include "common/base/error.h"
#include "common/base/units.h"
#include "common/model/replay_plan.h"

namespace tandem::bench {
namespace {

constexpr Seconds kLongest{3600};
constexpr double kSlowestCore = 1e9;  // FLOP/s; quick work at this speed needs no timing
constexpr double kFastestGpu = 5e15;  // FLOP/s: twice bf16 of the fastest GPUs on sale
constexpr double kBf16OfACore = 16;   // speed of bf16 over fp32, with AMX

// The FLOPs of a step on the device with the most samples, which is the first device.
double flops_of_a_step(const StepOptions& options, const Workload& workload) {
  double flops = 0;
  int parts = options.variant.reducer.micro_batches;
  for (const Piece& part : shards_of(options)) {
    if (parts-- == 0) break;
    flops += planned_flops(workload, part.count);
  }
  return flops;
}

double core_speed(Bootstrap& bootstrap, const Place& place) {
  if (place.core_gflops > 0) return place.core_gflops * 1e9;
  const double mine = bootstrap.rank() == 0 ? measured_core_flops(place.cores.front()) : 0;
  return root_value(bootstrap, mine);
}

}  // namespace

void check_duration(Bootstrap& bootstrap, const Place& place, const StepOptions& options,
                    const Workload& workload) {
  const double step = flops_of_a_step(options, workload);
  const int steps = options.warmup_steps + options.min_samples;
  const bool is_host = place.platform->backend() == Backend::kHost;
  if (step * steps <= kLongest.count() * (is_host ? kSlowestCore : kFastestGpu)) return;
  double speed = kFastestGpu;
  if (is_host) {
    const bool is_bf16 = options.variant.training.precision == Precision::kBf16;
    speed = core_speed(bootstrap, place) * (is_bf16 ? kBf16OfACore : 1);
  }
  const Seconds least(step * steps / speed);
  if (least <= kLongest) return;
  fail(ErrorKind::kUsage,
       "workload '{}': {} steps of {:.3g} FLOPs on a device take {:.1f} h or more at {:.3g} "
       "GFLOP/s, "
       "and this stops at {:.0f} h: use a smaller batch or a smaller model",
       workload.name, steps, step, least.count() / 3600, speed * 1e-9, kLongest.count() / 3600);
}

}  // namespace tandem::bench
