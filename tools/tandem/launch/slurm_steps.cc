// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/slurm_steps.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "tools/tandem/process/command_output.h"

namespace tandem::cli {

std::string step_name() { return fmt::format("tandem.{}", ::getpid()); }

std::vector<std::string> own_steps_in(const std::string& list) {
  std::vector<std::string> steps;
  std::istringstream lines(list);
  for (std::string number, name; lines >> number >> name;) {
    if (name == step_name()) steps.push_back(number);
  }
  return steps;
}

void cancel_own_steps() {
  const char* const job = std::getenv("SLURM_JOB_ID");
  if (job == nullptr) return;
  const std::string list = output_of(
      fmt::format("squeue --steps --jobs='{}' --noheader --format='%i %j' 2>/dev/null", job));
  for (const std::string& step : own_steps_in(list)) {
    static_cast<void>(output_of(fmt::format("scancel '{}' 2>/dev/null", step)));
  }
}

}  // namespace tandem::cli
