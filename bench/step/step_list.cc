// SPDX-License-Identifier: Apache-2.0
#include "bench/step/step_list.h"

#include <CLI/CLI.hpp>

#include "common/comm/bootstrap.h"

namespace tandem::bench {

bool names_no_cell(const CLI::App& app, const StepFlags& flags) {
  for (const char* flag :
       {"--batch", "--batch-per-device", "--record", "--trace", "--contention", "--verify", "--ab",
        "--write-workload", "--check", "--fault", "--plant"}) {
    if (app.count(flag) > 0) return false;
  }
  return flags.peak_gflops != "measured";
}

std::vector<std::string> strategies_to_list(const CLI::App& app, const StepFlags& flags) {
  if (app.count("--strategy") > 0) return {flags.strategy};
  if (announced_ranks() > 1 || flags.launch == "processes") {
    return {"independent", "ddp-replicate", "ddp"};
  }
  return {"single", "independent", "dp", "dp-allreduce"};
}

std::vector<StepOptions> each_listed(const StepOptions& options) {
  if (options.listed.empty()) return {options};
  std::vector<StepOptions> each(options.listed.size(), options);
  for (std::size_t i = 0; i < each.size(); ++i) each[i].variant.strategy = options.listed[i];
  return each;
}

}  // namespace tandem::bench
