// SPDX-License-Identifier: Apache-2.0
//
// The command line of step_bench, of each rank and of all ranks together.
#pragma once

#include <optional>
#include <string>

#include "bench/driver/google_benchmark.h"
#include "bench/step/step_options.h"
#include "common/comm/bootstrap.h"

namespace tandem::bench {

using options::Check;

// The runs of step_bench, in the order of the table's choices.
enum class Run { kTime, kPair, kVerify, kTrace, kCalibrate, kList };

struct StepCommand {
  Run run = Run::kTime;
  StepOptions step{};
  SamplingOptions sampling{};  // of kTime and kTrace
  PairOptions pair{};          // these of the runs that they are named for
  TraceOptions trace{};
  CalibrationOptions calibration{};
  std::optional<Check> check{};  // set: the launch checks and does nothing else
  std::string flight_dir{};      // empty: no flight recorder
  std::string shared{};          // a line per option that all ranks have to share
  BenchmarkFlags benchmark{};
};

// The command of a command line. Throws usage errors; with --help or `list`, prints the answer and
// returns nothing.
[[nodiscard]] std::optional<StepCommand> parse_step_command(int argc, const char* const* argv);

// Throws a usage error on all ranks where any rank was started with other options than rank 0, as a
// launcher may do: ranks with other options would call other collectives. Only rank 0 writes files,
// so the names of files may differ. Collective.
void check_same_options(Bootstrap& bootstrap, const StepCommand& command);

}  // namespace tandem::bench
