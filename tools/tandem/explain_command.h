// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/tandem/launch_site.h"

namespace tandem::cli {

struct ExplainOptions {
  std::string source;  // FILE: what was measured before; empty: --out
  std::string out;
  std::string model;
  std::int64_t batch = 0;
  int devices = 2;
  int launches = 6;
  std::string input = "host";
  std::string precision = "fp32";
  std::string link;
  std::string dispatch_cost;  // "auto": torch's own, measured here
  bool interpreter_lock = false;
  std::string torch;     // a python: PyTorch beside; empty: without
  std::string plant;     // of step_bench, given to every rung; empty: none
  std::string backend;   // empty: as FILE was measured, else auto
  std::string min_time;  // empty: as FILE was measured, else 500ms
  bool oversubscribe = false;
  std::string launch_timeout = "10m";
  SiteOptions site{};
  std::string comm_timeout;            // of step_bench; empty: its default
  std::string step_bench;              // empty: beside this program
  std::vector<std::string> command{};  // all of it as it was given, but for --out
};

// `tandem explain`: measures the rungs that are missing, then says what the gap between dp and ddp
// consists of. Exit code as of `tandem run`, about the rungs.
[[nodiscard]] int explain_gap(const ExplainOptions& options);

}  // namespace tandem::cli
