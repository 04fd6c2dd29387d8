// SPDX-License-Identifier: Apache-2.0
#include "bench/job/core_speed.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "common/base/units.h"
#include "common/kernels/host/bare_product.h"
#include "common/runtime/host/worker_thread.h"

namespace tandem::bench {
namespace {

constexpr LinearShape kShape{.batch = 512, .in = 1024, .out = 1024};
constexpr int kWarmup = 5;
constexpr int kRuns = 25;

// The fastest run counts, since noise only slows a run.
double best_flops() {
  const DeviceId host{};
  std::vector<float> x(static_cast<std::size_t>(kShape.batch * kShape.in), 0.5F);
  std::vector<float> weight(static_cast<std::size_t>(kShape.in * kShape.out), 0.25F);
  std::vector<float> y(static_cast<std::size_t>(kShape.batch * kShape.out));
  const LinearForward product{
      .shape = kShape,
      .x = Span<const float>(x.data(), kShape.batch * kShape.in, host),
      .weight = Span<const float>(weight.data(), kShape.in * kShape.out, host),
      .bias = {},
      .y = Span<float>(y.data(), kShape.batch * kShape.out, host)};
  double best = 0;
  for (int run = 0; run < kWarmup + kRuns; ++run) {
    const TimePoint start = Clock::now();
    host::bare_product(product);
    const Seconds took = Clock::now() - start;
    if (run >= kWarmup) {
      best = std::max(best, static_cast<double>(product_flops(kShape)) / took.count());
    }
  }
  return best;
}

}  // namespace

double measured_core_flops(int core) {
  double flops = 0;
  std::thread([&] {
    host::prepare_worker_thread(core);
    flops = best_flops();
  }).join();
  return flops;
}

}  // namespace tandem::bench
