// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/process/orphans.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <vector>

namespace tandem::cli {
namespace {

std::vector<pid_t> children() {
  std::ifstream file(fmt::format("/proc/self/task/{}/children", ::getpid()));
  std::vector<pid_t> found;
  for (pid_t child = 0; file >> child;) found.push_back(child);
  return found;
}

}  // namespace

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

void kill_orphans() {
  // A killed child may hand down children of its own, so the loop runs until no child is left.
  // Where the kernel does not list children, the group's SIGKILL has to do.
  for (std::vector<pid_t> found = children(); !found.empty(); found = children()) {
    for (const pid_t child : found) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }
}

}  // namespace tandem::cli
