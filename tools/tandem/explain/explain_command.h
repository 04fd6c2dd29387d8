// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/tandem/launch/launch_site.h"

namespace tandem::cli {

struct ExplainOptions {
  std::string source;  // FILE with the earlier measurements; empty: --out
  std::string out;
  std::string model;
  std::int64_t batch = 0;
  int devices = 2;
  int launches = 6;
  std::string input = "host";
  std::string precision = "fp32";
  std::string link;
  std::string dispatch_cost;  // "auto": torch's dispatch cost, measured here
  bool interpreter_lock = false;
  std::string torch;     // a python with PyTorch; empty: without PyTorch
  std::string plant;     // step_bench's --plant, for every rung; empty: none
  std::string backend;   // empty: the back end of FILE, else auto
  std::string min_time;  // empty: the time of FILE, else 500ms
  bool oversubscribe = false;
  std::string launch_timeout = "10m";
  SiteOptions site{};
  std::string comm_timeout;            // step_bench's --comm-timeout; empty: its default
  std::string step_bench;              // empty: step_bench beside this program
  std::vector<std::string> command{};  // the whole command line, without --out
};

// `tandem explain`: measures the missing rungs, then prints the parts of the gap between dp and
// ddp. Returns the exit code of `tandem run` for the rungs.
[[nodiscard]] int explain_gap(const ExplainOptions& options);

}  // namespace tandem::cli
