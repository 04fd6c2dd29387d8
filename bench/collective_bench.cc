// SPDX-License-Identifier: Apache-2.0
//
// Collectives among processes of one node, beside what the memory gives: every rank copying at
// once. Each all-reduce sample is followed by a memcpy sample of the same size, so that their ratio
// is taken under the same conditions. Also the distance of the first two cores.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <numeric>
#include <optional>

#include "bench/clean_environment.h"
#include "bench/failure_flags.h"
#include "bench/google_benchmark.h"
#include "bench/job.h"
#include "bench/ranks_main.h"
#include "bench/recorded_ranks.h"
#include "bench/sampler.h"
#include "common/comm/agreement.h"
#include "common/comm/ping_pong.h"
#include "common/runtime/copy.h"
#include "common/stats/paired.h"
#include "common/stats/summary.h"

namespace tandem::bench {
namespace {

struct Options {
  PlaceOptions place{.launch = Launch::kProcesses};
  std::vector<Bytes> sizes;
  int samples = 50;
  std::vector<std::string> benchmark_flags;
  FailureFlags failure;
};

std::optional<Options> parse(int argc, const char* const* argv) {
  CLI::App app("Times collectives among processes of one node, beside memcpy on all ranks.",
               "collective_bench");
  Options options;
  std::vector<std::string> sizes{"1MiB", "4MiB", "16MiB", "64MiB"};
  std::string backend = "auto";
  app.add_option("--devices", options.place.devices, "ranks, a device each")->capture_default_str();
  app.add_option("--sizes", sizes, "bytes per rank, such as 1MiB,16MiB")->delimiter(',');
  app.add_option("--samples", options.samples, "per size")->capture_default_str();
  app.add_option("--backend", backend, "auto, host or cuda")->capture_default_str();
  app.add_flag("--oversubscribe", options.place.oversubscribe, "let ranks share cores");
  declare_failure(app, options.failure);
  app.footer("Run it as mpirun -np DEVICES --bind-to none collective_bench --devices=DEVICES.");
  if (!parse_with_benchmark_flags(app, argc, argv, options.benchmark_flags)) return std::nullopt;
  options.place.backend = parse_backend(backend);
  options.place.communicator.deadline = deadline_of(options.failure);
  for (const std::string& size : sizes) {
    options.sizes.push_back(parse_bytes(size, "--sizes"));
    if (options.sizes.back() < Bytes{64}) {
      fail(ErrorKind::kUsage, "--sizes: {} is too little to time: use 64B or more", size);
    }
  }
  if (options.samples < 2) fail(ErrorKind::kUsage, "--samples: use 2 or more");
  if (options.place.devices < 1) fail(ErrorKind::kUsage, "--devices: use 1 or more");
  return options;
}

// One rank's buffers and stream.
class Collectives {
 public:
  Collectives(Place& place, Bytes size)
      : ranks_(*place.communicator),
        values_(ranks_.allocate(size)),
        copy_(ranks_.allocate(size)),
        stream_(place.device->make_stream(StreamPriority::kNormal)) {}

  [[nodiscard]] double all_reduce() {
    return timed_over_ranks(ranks_,
                            [&] {
                              ranks_.all_reduce(*stream_, values_->as<float>(), ReduceOp::kAverage);
                              stream_->synchronize();
                            })
        .count();
  }

  // Every rank copies at once, each within its own memory.
  [[nodiscard]] double copy() {
    return timed_over_ranks(ranks_,
                            [&] {
                              enqueue_copy(*stream_, copy_->as<float>(), values_->as<float>());
                              stream_->synchronize();
                            })
        .count();
  }

 private:
  Communicator& ranks_;
  const std::unique_ptr<Buffer> values_;
  const std::unique_ptr<Buffer> copy_;
  const std::unique_ptr<Stream> stream_;
};

// algbw = bytes / time; busbw = algbw * 2 (n - 1) / n for an all-reduce (nccl-tests,
// doc/PERFORMANCE.md). GB are 10^9 bytes. One rank moves nothing and has no bandwidth.
void set_bandwidths(benchmark::State& state, Bytes size, int ranks, double seconds) {
  if (ranks < 2) return;
  const double algbw = static_cast<double>(size.value) / seconds * 1e-9;
  state.counters["algbw_GBps"] = algbw;
  state.counters["busbw_GBps"] = algbw * 2 * (ranks - 1) / ranks;
}

void measure_size(benchmark::State& state, Place& place, Bytes size) {
  Collectives collectives(place, size);
  for (int warmup = 0; warmup < 5; ++warmup) {
    static_cast<void>(collectives.all_reduce() + collectives.copy());
  }
  std::vector<double> reduce_seconds;
  std::vector<double> copy_seconds;
  for ([[maybe_unused]] auto iteration : state) {
    reduce_seconds.push_back(collectives.all_reduce());
    copy_seconds.push_back(collectives.copy());
    state.SetIterationTime(reduce_seconds.back());
  }
  const double copy_median = stats::median(copy_seconds);
  set_bandwidths(state, size, place.communicator->size(), stats::median(reduce_seconds));
  state.counters["memcpy_GBps"] = static_cast<double>(size.value) / copy_median * 1e-9;
  // How many times faster than a memcpy of as many bytes.
  state.counters["speed_to_memcpy"] =
      stats::median_of_paired_ratios(reduce_seconds, copy_seconds).center;
}

void measure_ping_pong(benchmark::State& state, Place& place) {
  for ([[maybe_unused]] auto iteration : state) {
    const bool first = place.communicator->rank() == 0;
    const double mine = first ? ping_pong_ns(place.cores[0], place.cores[1]) : 0;
    state.SetIterationTime(place.communicator->all_gather(mine).front() * 1e-9);
  }
}

int run(const Options& options, Bootstrap& bootstrap) {
  std::unique_ptr<GoogleBenchmark> driver;
  attempt_together(bootstrap, [&] {
    driver = std::make_unique<GoogleBenchmark>("collective_bench", options.benchmark_flags,
                                               bootstrap.rank());
  });
  Place place = open_place(bootstrap, options.place);
  if (bootstrap.rank() == 0) std::cerr << place.backend_notice << std::endl;
  add_context(place);
  if (place.cores.size() > 1 && place.cores[0] != place.cores[1]) {
    driver->add("ping_pong", 10, benchmark::kNanosecond,
                [&place](benchmark::State& state) { measure_ping_pong(state, place); });
  }
  for (const Bytes size : options.sizes) {
    driver->add(fmt::format("all_reduce/devices:{}/bytes:{}", options.place.devices, size.value),
                options.samples, benchmark::kMicrosecond,
                [&place, size](benchmark::State& state) { measure_size(state, place, size); });
  }
  driver->run();
  return 0;
}

}  // namespace
}  // namespace tandem::bench

int main(int argc, char** argv) {
  using namespace tandem::bench;
  restart_in_clean_environment(argv);
  return run_main("collective_bench", [&] {
    auto options = parse(argc, argv);
    if (!options) return 0;
    return run_recorded_ranks(
        "collective_bench",
        {.deadline = deadline_of(options->failure), .flight_dir = options->failure.flight_dir},
        argc, argv, [&](tandem::Bootstrap& bootstrap, FlightLog& flight) {
          options->place.communicator.observer = flight.collectives_of(0);
          return run(*options, bootstrap);
        });
  });
}
