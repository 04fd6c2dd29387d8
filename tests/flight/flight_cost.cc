// SPDX-License-Identifier: Apache-2.0
//
//   flight_cost FILE    nanoseconds per note of a flight recorder in FILE
#include <fmt/format.h>

#include "common/base/units.h"
#include "common/flight/flight_recorder.h"

namespace {

template <class Note>
void report(const char* what, Note note) {
  constexpr std::uint64_t kNotes = 2'000'000;
  const tandem::TimePoint start = tandem::Clock::now();
  for (std::uint64_t i = 1; i <= kNotes; ++i) note(i);
  const tandem::Nanoseconds took = tandem::Clock::now() - start;
  fmt::print("{}: {:.1f} ns\n", what, static_cast<double>(took.count()) / kNotes);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: flight_cost FILE\n");
    return 2;
  }
  tandem::FlightRecorder recorder(argv[1], {.rank = 0, .world = 1, .phases = {"forward"}});
  report("a phase", [&](std::uint64_t i) { recorder.reached(static_cast<std::int64_t>(i), 0); });
  report("a collective, enqueued, started and finished", [&](std::uint64_t i) {
    recorder.collective_enqueued(i, "all_reduce", 4096);
    recorder.collective_started(i, "all_reduce", 4096);
    recorder.collective_finished(i);
  });
  return 0;
}
