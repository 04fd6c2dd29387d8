// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tandem::cli {

struct LessonsOptions {
  std::vector<std::string> names{};  // none: all
  bool list = false;                 // name them and do nothing
  std::string program{};             // for tests; empty: lessons beside tandem
};

// What the machine has for lessons that compare threads with processes.
struct LessonsMachine {
  int cores = 1;
  bool has_mpirun = false;
};

// The command line of `lessons`: two ranks under mpirun where the machine can have them, else one
// process, in which the lessons that need two say so.
[[nodiscard]] std::vector<std::string> lessons_command(const std::string& program,
                                                       const LessonsOptions& options,
                                                       const LessonsMachine& machine);

// `tandem lessons`: runs that command and returns its exit status; 130 after an interrupt. Throws
// where it cannot be started.
[[nodiscard]] int run_lessons(const LessonsOptions& options);

}  // namespace tandem::cli
