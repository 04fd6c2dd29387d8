// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/comm/bootstrap.h"
#include "common/comm/rank_exit.h"

namespace CLI {
class App;
}  // namespace CLI

namespace tandem::bench {

// Runs `body`. Where `body` throws, this rank's last words are kept first, then `abort()` ends this
// rank's communicators: the other ranks end soon, and so do this rank's own streams, which would
// else wait for the other ranks until the deadline. To be called inside the object that owns the
// streams: streams finish queued work as they are destroyed, and by then the other ranks may have
// ended the job.
template <class Abort, class Body>
auto aborting_on_error(const RankExit& rank_exit, Abort&& abort, Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const Error& error) {
    rank_exit.report(error);
    abort();
    throw;
  } catch (...) {
    abort();
    throw;
  }
}

// From now on a SIGINT (Ctrl-C) that ends this process has a line on stderr, by rank 0
// where a launcher started several ranks; the process ends as before. Does nothing where SIGINT is
// ignored.
void tell_of_interrupt(const std::string& program);

// Starts this program again without the variables that would change what the program measures
// behind its flags' back: BENCHMARK_* (twins of Google Benchmark's flags, read before main), OMP_*,
// GOMP_*, KMP_*, OPENBLAS_*, MKL_*, DNNL_* and ONEDNN_* (thread counts, instruction sets, and
// affinity that is applied when a library is loaded). Returns where there are no such variables; to
// be called first in main.
void restart_in_clean_environment(char** argv);

// Parses the command line; an unknown flag is a usage error. Returns false after --help, whose text
// the call prints.
[[nodiscard]] bool parse_arguments(CLI::App& app, int argc, const char* const* argv);

// Runs `body` and turns an exception into one line and an exit status: 2 for usage, else 1. An
// error that all ranks of a job find alike is printed by rank 0 alone, also before MPI gives the
// rank.
[[nodiscard]] int run_main(const std::string& program, const std::function<int()>& body);

// run_main() for a job of processes, between MPI's start and its end. An error that all ranks met
// together ends each rank; after any other error the whole job is ended, since peers may wait for
// this rank for ever.
//
// `deadline` is the wait for peers to come; the rank exit reports first, perhaps by a thread of its
// own while this rank waits for MPI in vain.
struct RanksMain {
  std::string program;
  Nanoseconds deadline = std::chrono::seconds(60);
  RankExit rank_exit{};
};
[[nodiscard]] int run_ranks_main(const RanksMain& how, int& argc, char**& argv,
                                 const std::function<int(Bootstrap&)>& body);

}  // namespace tandem::bench
