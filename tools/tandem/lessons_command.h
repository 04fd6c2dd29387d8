// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tandem::cli {

struct LessonsOptions {
  std::vector<std::string> names{};  // empty: all lessons
  bool list = false;                 // print the names and run nothing
  std::string program{};             // the path of lessons, for tests; empty: beside tandem
};

// The machine's cores and launcher, as lessons that compare threads with processes need them.
struct LessonsMachine {
  int cores = 1;
  bool has_mpirun = false;
};

// The command line of `lessons`: two ranks under mpirun where the machine has room, else one
// process, in which lessons that need two ranks say so.
[[nodiscard]] std::vector<std::string> lessons_command(const std::string& program,
                                                       const LessonsOptions& options,
                                                       const LessonsMachine& machine);

// `tandem lessons`: runs that command and returns its exit status, 130 after an interrupt. Throws
// where the command cannot be started.
[[nodiscard]] int run_lessons(const LessonsOptions& options);

}  // namespace tandem::cli
