// SPDX-License-Identifier: Apache-2.0
//
// Collectives among the ranks of a job, beside what the memory gives: every rank copying at
// once. Each sample of a collective is followed by a memcpy of as many bytes, so that their ratio
// is taken under the same conditions. Every element of every result is checked.
#include <iostream>

#include "bench/collectives/sweep.h"
#include "bench/driver/ranks_main.h"
#include "bench/observe/flight_log.h"
#include "common/base/error.h"
#include "common/comm/bootstrap.h"
#include "common/comm/thread_bootstrap.h"

namespace tandem::bench {
namespace {

// Opens Google Benchmark on the rank that reports; an error in the flags is thrown on all ranks.
std::unique_ptr<GoogleBenchmark> open_driver(const CollectiveOptions& options,
                                             Bootstrap& bootstrap) {
  std::unique_ptr<GoogleBenchmark> driver;
  attempt_together(bootstrap, [&] {
    if (bootstrap.rank() != 0) return;
    driver = std::make_unique<GoogleBenchmark>("collective_bench", options.benchmark, 0);
  });
  return driver;
}

void introduce(const Place& place, const CollectiveOptions& options) {
  std::cerr << notices_of(place) << std::flush;
  add_context(place);
  GoogleBenchmark::add_context("tandem_launch", to_string(options.place.launch));
  GoogleBenchmark::add_context("tandem_comm",
                               std::string(tandem::name_of(options.place.transport)));
  GoogleBenchmark::add_context("tandem_op", options.op == ReduceOp::kSum ? "sum" : "average");
  GoogleBenchmark::add_context("tandem_wait",
                               options.wait == host::PeerWaits::kSpin ? "spin" : "park");
}

// Runs the sweep and says what is wrong with a result; empty where every result is right. Peers
// that wait for a rank which gave up end soon.
std::string run_sweep(const Rank& rank, const CollectiveOptions& options,
                      const std::vector<int>& cores, GoogleBenchmark* driver) {
  return aborting_on_error(
      rank.farewell, [&] { rank.communicator.abort(); },
      [&] { return CollectiveSweep(rank, options, cores).run(driver); });
}

// All ranks know what is wrong, and rank 0 alone says so.
int run_process(const CollectiveOptions& options, Bootstrap& bootstrap) {
  const auto driver = open_driver(options, bootstrap);
  const Place place = open_place(bootstrap, options.place);
  if (driver) introduce(place, options);
  const Rank rank{bootstrap,           *place.platform,  *place.device,
                  *place.communicator, clocks_of(place), place.farewell};
  const std::vector<int> cores = first_two_share_a_node(place) ? place.cores : std::vector<int>{};
  const std::string wrong = run_sweep(rank, options, cores, driver.get());
  if (!wrong.empty() && driver) std::cerr << fmt::format("collective_bench: {}\n", wrong);
  return wrong.empty() ? 0 : 1;
}

int run_threads(const CollectiveOptions& options, Bootstrap& bootstrap, FlightLog& flight) {
  const auto driver = open_driver(options, bootstrap);
  Place place = open_place(bootstrap, options.place);
  introduce(place, options);
  place.communicator.reset();  // each rank that is a thread makes a communicator of its own
  run_ranks_as_threads(options.place.devices, [&](Bootstrap& ranks) {
    Device& device = place.platform->device(ranks.rank());
    device.bind_this_thread();
    const auto communicator = make_communicator(options.place.transport, ranks, device,
                                                {.deadline = options.place.communicator.deadline,
                                                 .observer = flight.collectives_of(ranks.rank())});
    const Rank rank{ranks, *place.platform, device, *communicator, Clocks::kCommon, place.farewell};
    GoogleBenchmark* const reporting = ranks.rank() == 0 ? driver.get() : nullptr;
    const std::string wrong = run_sweep(rank, options, place.cores, reporting);
    if (!wrong.empty()) fail(ErrorKind::kFailure, "{}", wrong);
  });
  return 0;
}

}  // namespace
}  // namespace tandem::bench

int main(int argc, char** argv) {
  using namespace tandem::bench;
  restart_in_clean_environment(argv);
  return run_main("collective_bench", [&] {
    auto options = parse_collective_options(argc, argv);
    if (!options) return 0;
    check_launch(options->place.launch);
    const tandem::host::ScopedPeerWaits waits(options->wait);
    const FailurePolicy policy{.deadline = options->place.communicator.deadline,
                               .grace = options->place.communicator.farewell.grace,
                               .flight_dir = options->flight_dir};
    if (options->place.launch == Launch::kThreads) {
      return run_recorded_threads(policy, options->place.devices,
                                  [&](tandem::Bootstrap& bootstrap, FlightLog& flight) {
                                    return run_threads(*options, bootstrap, flight);
                                  });
    }
    return run_recorded_ranks("collective_bench", policy, argc, argv,
                              [&](tandem::Bootstrap& bootstrap, FlightLog& flight) {
                                tandem::CommunicatorOptions& of = options->place.communicator;
                                of.observer = flight.collectives_of(0);
                                of.farewell = flight.farewell(of.farewell.grace);
                                return run_process(*options, bootstrap);
                              });
  });
}
