// SPDX-License-Identifier: Apache-2.0
#include "bench/driver/clean_environment.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "common/base/this_process.h"

namespace tandem::bench {

void restart_in_clean_environment(char** argv) {
  std::vector<char*> kept;
  std::string ignored;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (changes_the_measurement(*variable)) {
      ignored.append(" ").append(*variable, std::strcspn(*variable, "="));
    } else {
      kept.push_back(*variable);
    }
  }
  if (ignored.empty()) return;
  std::fprintf(stderr, "ignored, as they would change what is measured:%s\n", ignored.c_str());
  kept.push_back(nullptr);
  execve(program_starter().c_str(), argv, kept.data());
  // Where the restart failed, the effects of the variables show in the record (the library's
  // instruction set, the cores).
}

}  // namespace tandem::bench
