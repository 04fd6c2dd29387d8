// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/comm/bootstrap.h"
#include "common/comm/farewell.h"

namespace CLI {
class App;
}  // namespace CLI

namespace tandem::bench {

// Parses the command line. Arguments that begin with --benchmark_ go to `benchmark_flags`; any
// other unknown flag is a usage error. Returns false after --help, whose text the call prints.
[[nodiscard]] bool parse_with_benchmark_flags(CLI::App& app, int argc, const char* const* argv,
                                              std::vector<std::string>& benchmark_flags);

// Runs `body` and turns an exception into one line and an exit status: 2 for usage, else 1. An
// error that all ranks of a job find alike is printed by rank 0 alone, also before MPI tells the
// rank.
[[nodiscard]] int run_main(const std::string& program, const std::function<int()>& body);

// run_main() for a job of processes, between MPI's start and its end. An error that all ranks met
// together ends each rank; after any other error the whole job is ended, since peers may wait for
// this rank for ever.
//
// `deadline` is the wait for peers to come; the farewell is told first, perhaps by a thread of its
// own while this rank waits for MPI in vain.
struct RanksMain {
  std::string program;
  Nanoseconds deadline = std::chrono::seconds(60);
  Farewell farewell{};
};
[[nodiscard]] int run_ranks_main(const RanksMain& how, int& argc, char**& argv,
                                 const std::function<int(Bootstrap&)>& body);

}  // namespace tandem::bench
