// SPDX-License-Identifier: Apache-2.0
//
// Runs and judges claims that circulate about DataParallel, in one process.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "bench/driver/ranks_main.h"
#include "bench/job/job.h"
#include "bench/lessons/lessons.h"

namespace tandem::bench {
namespace {

int run(int argc, char** argv) {
  CLI::App app("Claims that circulate about torch's DataParallel, run and judged.", "lessons");
  std::vector<std::string> names;
  bool list = false;
  app.add_option("NAME", names, "lessons to run; default: all");
  app.add_flag("--list", list, "name them, and end");
  app.footer(
      "Examples:\n"
      "  lessons even-split\n"
      "Exit status: 0 every lesson ran, whatever its verdict, 1 one failed, 2 wrong usage.");
  if (!parse_arguments(app, argc, argv)) return 0;
  const Lessons lessons = choose_lessons(all_lessons(), names);
  check_launch(Launch::kThreads);
  if (list) {
    list_lessons(lessons, std::cout);
    return 0;
  }
  const Classroom room;
  std::cout << fmt::format("CPU only: {} core{}.\n\n", room.cores(), room.cores() == 1 ? "" : "s");
  return run_lessons(lessons, room, std::cout);
}

}  // namespace
}  // namespace tandem::bench

int main(int argc, char** argv) {
  tandem::bench::restart_in_clean_environment(argv);
  return tandem::bench::run_main("lessons", [&] { return tandem::bench::run(argc, argv); });
}
