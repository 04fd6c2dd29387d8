// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/sweep.h"

#include <iostream>

#include "bench/collectives/model_buckets.h"
#include "bench/collectives/report.h"
#include "common/base/capture_error.h"
#include "common/comm/ping_pong.h"
#include "common/stats/summary.h"

namespace tandem::bench {
namespace {

constexpr int kPingPongs = 10;

std::vector<SizeToMeasure> sizes_of(const Rank& rank, const CollectiveOptions& options) {
  if (options.sizes_of.empty()) return sizes_given(options);
  return sizes_of_buckets(model_buckets(rank, options.sizes_of, options.bucket_limits));
}

// Between the first two cores, while the other ranks wait.
std::vector<double> measured_ping_pongs(Communicator& ranks, const std::vector<int>& cores) {
  std::vector<double> one_way;
  if (cores.size() < 2 || cores[0] == cores[1]) return one_way;
  for (int i = 0; i < kPingPongs; ++i) {
    const double mine = ranks.rank() == 0 ? ping_pong_ns(cores[0], cores[1]) : 0;
    one_way.push_back(ranks.all_gather(mine).front());
  }
  return one_way;
}

}  // namespace

CollectiveSweep::CollectiveSweep(const Rank& rank, const CollectiveOptions& options,
                                 const std::vector<int>& cores)
    : rank_(rank),
      options_(options),
      ping_pongs_(measured_ping_pongs(rank.communicator, cores)),
      cases_(cases_of(options, sizes_of(rank, options))) {}

// Ends the run through an exception, also inside Google Benchmark, which then runs no more.
CollectiveResult CollectiveSweep::measure(const CollectiveCase& measured) {
  CollectiveResult result = measure_collective(rank_, measured, options_.samples);
  wrong_ = result.wrong;
  if (!wrong_.empty()) fail(ErrorKind::kFailure, "{}", wrong_);
  return result;
}

std::string CollectiveSweep::run(GoogleBenchmark* driver) {
  const auto error = capture_error([&] {
    if (driver != nullptr) return run_reporting(*driver);
    for (const CollectiveCase& measured : cases_) static_cast<void>(measure(measured));
  });
  if (error && wrong_.empty()) throw Error(*error);
  return wrong_;
}

void CollectiveSweep::add_ping_pong(GoogleBenchmark& driver) {
  if (ping_pongs_.empty()) return;
  driver.add("ping_pong", kPingPongs, benchmark::kNanosecond, [this](benchmark::State& state) {
    std::size_t sample = 0;
    for ([[maybe_unused]] auto iteration : state) {
      state.SetIterationTime(ping_pongs_[sample++] * 1e-9);
    }
  });
}

// What is compared by name must have been measured alike.
std::string CollectiveSweep::full_name(const CollectiveCase& measured) const {
  std::string name = name_of(measured, rank_.communicator.size());
  if (options_.place.launch == Launch::kThreads) name += "/threads";
  if (options_.place.transport != Transport::kAuto) {
    name += fmt::format("/comm:{}", name_of(options_.place.transport));
  }
  if (options_.wait == host::PeerWaits::kSpin) name += "/wait:spin";
  return name;
}

void CollectiveSweep::run_reporting(GoogleBenchmark& driver) {
  const double distance = ping_pongs_.empty() ? 0 : stats::median(ping_pongs_);
  add_ping_pong(driver);
  for (const CollectiveCase& measured : cases_) {
    const std::string name = full_name(measured);
    driver.add(name, options_.samples, benchmark::kMicrosecond,
               [this, measured, name, distance](benchmark::State& state) {
                 const CollectiveResult result = measure(measured);
                 if (!result.skipped.empty()) {
                   std::cerr << fmt::format("{}: skipped: {}\n", name, result.skipped);
                 }
                 report(state, measured, result, distance);
               });
  }
  driver.run();
}

}  // namespace tandem::bench
