// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/tandem/launch/launch_site.h"

namespace tandem::cli {

struct ProfileOptions {
  std::string tool;  // nsys, ncu, timeline, contention, summary or picture
  std::string strategy = "ddp";
  std::string launch{};  // empty: step_bench's launch for the strategy
  int devices = 2;
  std::string backend = "auto";
  SiteOptions site{};
  bool oversubscribe = false;
  int steps = 10;
  bool osrt = false;                  // nsys only
  std::vector<std::string> phases{};  // ncu only
  std::string out{};                  // empty: a new folder out/profile-N
  bool dry_run = false;
  std::string step_bench{};          // path for tests; empty: step_bench beside tandem
  std::vector<std::string> given{};  // names of the options above that the user gave
  std::vector<std::string> rest{};   // further options of step_bench
};

// `tandem profile nsys` and `tandem profile ncu` run step_bench under the tool, with a report per
// rank, and print the reports' paths; dry_run prints the command line alone. `timeline` runs
// step_bench with a trace and prints the trace's summary; `contention` runs step_bench with
// --contention; `summary` prints the summary of an existing trace, `picture` one of its steps.
// Returns the tool's exit status. Throws a usage error for an impossible request, a failure where a
// report is missing.
[[nodiscard]] int run_profile(const ProfileOptions& options);

}  // namespace tandem::cli
