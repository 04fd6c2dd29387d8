// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/tandem/launch_site.h"

namespace tandem::cli {

struct ProfileOptions {
  std::string tool;  // nsys, ncu, timeline, contention, summary or picture
  std::string strategy = "ddp";
  std::string launch{};  // empty: as step_bench launches the strategy
  int devices = 2;
  std::string backend = "auto";
  SiteOptions site{};
  bool oversubscribe = false;
  int steps = 10;
  bool osrt = false;                  // of nsys
  std::vector<std::string> phases{};  // of ncu
  std::string out{};                  // empty: out/profile-N, a new one
  bool dry_run = false;
  std::string step_bench{};          // for tests; empty: that beside tandem
  std::vector<std::string> given{};  // names of those options above that were given
  std::vector<std::string> rest{};   // options of step_bench
};

// `tandem profile nsys` and `tandem profile ncu`: runs step_bench under the tool, a report per
// rank, and says where the reports are; with dry_run prints the command line alone. `timeline` runs
// it with a trace, of which it prints the summary; `contention` with --contention; `summary` prints
// that of a trace there is, `picture` one of its steps. Returns the tool's exit status; usage
// errors for what cannot be, a failure where a report is missing.
[[nodiscard]] int run_profile(const ProfileOptions& options);

}  // namespace tandem::cli
