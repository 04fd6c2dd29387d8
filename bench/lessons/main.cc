// SPDX-License-Identifier: Apache-2.0
//
// Runs and judges every claim that circulates about DataParallel. The program runs alone or as two
// ranks, of which the second is parked except for lessons that need processes.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "bench/driver/ranks_main.h"
#include "bench/lessons/lessons.h"
#include "common/comm/bootstrap.h"
#include "common/comm/thread_bootstrap.h"

namespace tandem::bench {
namespace {

struct Options {
  std::vector<std::string> names;
  bool list = false;
};

// Returns false after --help, whose text the call prints.
bool parse(int argc, const char* const* argv, Options& options) {
  CLI::App app("Claims that circulate about torch's DataParallel, run and judged.", "lessons");
  app.add_option("NAME", options.names, "lessons to run; default: all");
  app.add_flag("--list", options.list, "name them, and end");
  app.footer(
      "Examples:\n"
      "  lessons even-split\n"
      "  mpirun -np 2 --bind-to none lessons\n"
      "Exit status: 0 every lesson ran, whatever its verdict, 1 one failed, 2 wrong usage.");
  std::vector<std::string> none;
  return parse_with_benchmark_flags(app, argc, argv, none);
}

int teach(const Lessons& lessons, Bootstrap& bootstrap) {
  if (bootstrap.size() > 2) {
    fail(ErrorKind::kUsage, "lessons are for one or two ranks, and {} were started: use -np 2",
         bootstrap.size());
  }
  Classroom room(bootstrap);
  if (room.is_first()) {
    std::cout << fmt::format("CPU only: {} core{}, {} process{}.\n\n", room.cores(),
                             room.cores() == 1 ? "" : "s", room.ranks(),
                             room.ranks() == 1 ? "" : "es");
  }
  return run_lessons(lessons, room, std::cout);
}

int run(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) return 0;
  const Lessons lessons = choose_lessons(all_lessons(), options.names);
  if (options.list) {
    if (announced_rank() == 0) list_lessons(lessons, std::cout);
    return 0;
  }
  if (announced_ranks() == 1) {
    ThreadGroup alone(1);
    return teach(lessons, *alone.join(0));
  }
  return run_ranks_main({.program = "lessons"}, argc, argv,
                        [&](Bootstrap& bootstrap) { return teach(lessons, bootstrap); });
}

}  // namespace
}  // namespace tandem::bench

int main(int argc, char** argv) {
  tandem::bench::restart_in_clean_environment(argv);
  return tandem::bench::run_main("lessons", [&] { return tandem::bench::run(argc, argv); });
}
