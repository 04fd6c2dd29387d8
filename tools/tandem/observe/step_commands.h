// SPDX-License-Identifier: Apache-2.0
//
// The verbs that step_bench itself answers about one job, and those that read the trace it leaves.
#pragma once

#include <string>
#include <vector>

#include "tools/tandem/launch/launch_site.h"

namespace tandem::cli {

// The options that these verbs share; all others are step_bench's.
struct StepJobOptions {
  std::string strategy = "ddp";
  std::string launch{};  // empty: step_bench's launch for the strategy
  int devices = 2;
  std::string backend = "auto";
  SiteOptions site{};
  bool oversubscribe = false;
  bool dry_run = false;             // print the command line, and end
  std::string step_bench{};         // path for tests; empty: step_bench beside tandem
  std::vector<std::string> rest{};  // step_bench's options, as given
};

// `tandem verify`: trains some steps and compares them with one device's. Returns 0 where the
// numbers agree, kVerdictExit where they differ, 1 where that is not decided.
[[nodiscard]] int run_verify(const StepJobOptions& options);

struct TraceRecordOptions {
  StepJobOptions job{};
  int steps = 10;
  std::string out{};  // empty: a new folder out/trace-N
  bool has_details = false;
};

// `tandem trace record`: some steps of all ranks on one clock, and their summary.
[[nodiscard]] int record_trace(const TraceRecordOptions& options);

struct TraceSummaryOptions {
  std::string file{};
  bool as_json = false;  // for programs
  bool has_details = false;
};

// `tandem trace summary`. Throws a usage error for what is no trace.
[[nodiscard]] int print_trace_summary(const TraceSummaryOptions& options);

struct TraceImportOptions {
  std::vector<std::string> files{};  // of the ranks of one run
  std::string out{};                 // a file; empty: the summary alone
  bool has_details = false;
};

// `tandem trace import`: prints the summary of what PyTorch's profiler recorded, and writes it as a
// trace. Throws a usage error for other files.
[[nodiscard]] int import_trace(const TraceImportOptions& options);

}  // namespace tandem::cli
