// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/tandem/observe/observed_job.h"

namespace tandem::cli {

enum class Profiler { kNsys, kNcu };

struct ProfileOptions {
  Profiler profiler = Profiler::kNsys;
  StepJobOptions job{};
  int steps = 10;
  std::string out{};                  // empty: a new folder out/profile-N
  bool osrt = false;                  // nsys: calls of the operating system as well
  std::vector<std::string> phases{};  // ncu: only kernels of these phases
};

// `tandem profile nsys` and `tandem profile ncu`: run step_bench under the profiler, with a report
// per rank, and print the reports' paths; a dry run prints the command line alone. Returns the
// profiler's exit status. Throws a usage error for an impossible request, a failure where a report
// is missing.
[[nodiscard]] int run_profile(const ProfileOptions& options);

}  // namespace tandem::cli
