// SPDX-License-Identifier: Apache-2.0
#include "bench/observe/recorded_ranks.h"

#include "bench/driver/ranks_main.h"
#include "common/base/error.h"
#include "common/comm/bootstrap.h"
#include "common/comm/thread_bootstrap.h"

namespace tandem::bench {

int run_recorded_ranks(const std::string& program, const FailurePolicy& policy, int& argc,
                       char**& argv, const std::function<int(Bootstrap&, FlightLog&)>& body) {
  FlightLog flight(policy.flight_dir, {.first = announced_rank(), .world = announced_ranks()});
  const RanksMain how{
      .program = program, .deadline = policy.deadline, .farewell = flight.farewell(policy.grace)};
  const int status = run_ranks_main(how, argc, argv, [&](Bootstrap& bootstrap) {
    flight.enter(Stage::kJoin);
    return body(bootstrap, flight);
  });
  flight.ended();  // MPI has ended, too
  return status;
}

int run_recorded_threads(const FailurePolicy& policy, int devices,
                         const std::function<int(Bootstrap&, FlightLog&)>& body) {
  FlightLog flight(policy.flight_dir, {.count = devices, .world = devices});
  ThreadGroup alone(1);
  int status = 0;
  const auto error = capture_error([&] { status = body(*alone.join(0), flight); });
  if (error) {
    flight.failed(*error);
    throw Error(*error);
  }
  flight.ended();
  return status;
}

}  // namespace tandem::bench
