// SPDX-License-Identifier: Apache-2.0
#include "bench/job/link_account.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/kernels/host/bare_product.h"
#include "common/runtime/host/worker_thread.h"

namespace tandem::bench {

namespace {

constexpr double kMostLateness = 0.01;

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

double largest(Communicator& ranks, double mine) {
  const std::vector<double> all = ranks.all_gather(mine);
  return *std::max_element(all.begin(), all.end());
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

void LinkAccount::leave_out() { static_cast<void>(platform_.take_lateness()); }

void LinkAccount::add_sample() {
  const Lateness lateness = platform_.take_lateness();
  late_ += lateness.on_path;
  overshoot_ = std::max(overshoot_, lateness.largest_overshoot);
}

double LinkAccount::mean_lateness(Communicator& ranks, double steps) const {
  return largest(ranks, Seconds(late_).count() / steps);
}

double LinkAccount::largest_overshoot(Communicator& ranks) const {
  return largest(ranks, Seconds(overshoot_).count());
}

void check_lateness(double lateness_seconds, double step_seconds) {
  if (lateness_seconds <= kMostLateness * step_seconds) return;
  fail(ErrorKind::kFailure,
       "the link is faster than this machine could follow: modelled transfers ended {} late in a "
       "step of {} ({:.1f} %, and more than 1 % is no model of that link any more): run it again "
       "while nothing else runs, or use a slower --link or a larger model",
       tandem::to_string(Seconds(lateness_seconds)), tandem::to_string(Seconds(step_seconds)),
       100 * lateness_seconds / step_seconds);
}

}  // namespace tandem::bench
