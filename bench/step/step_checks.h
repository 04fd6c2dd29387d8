// SPDX-License-Identifier: Apache-2.0
//
// Requests that step_bench refuses, alone or together: all are usage errors.
#pragma once

#include <string>

#include "bench/job/fault.h"
#include "bench/job/job.h"
#include "bench/step/step_flags.h"
#include "bench/step/strategy_kind.h"

namespace CLI {
class App;
}  // namespace CLI

namespace tandem::bench {

void require(bool condition, const std::string& message);

void check_devices(const StepFlags& flags, StrategyKind strategy);

// Refuses options that would do nothing: the reader of the command would believe they did
// something.
void check_applicable(const CLI::App& app, const StepFlags& flags, StrategyKind strategy);

// Refuses a fault that cannot occur, as the job would wait for the fault in vain.
void check_fault(const Fault& fault, StrategyKind strategy, Launch launch, int devices);

// Refuses a planted fault that no option would reveal.
void check_watching(const StepFlags& flags);

// Refuses options of the reducer that contradict one another or that have no effect.
void check_reducer(const StepFlags& flags);

// The fewest steps of a warm-up: ddp's buckets settle in the second step.
inline constexpr int kLeastWarmupSteps = 3;

void check_counts(const StepFlags& flags);

// Refuses to keep the times of a profiled launch, whose steps take longer than usual.
void check_profiled(const CLI::App& app, const StepFlags& flags);

// Refuses a traced pass where no samples of one cell are measured before the pass.
void check_traced(const CLI::App& app, const StepFlags& flags);

// Refuses a pass that leaves all-reduces out where a step does not enqueue its own all-reduces, or
// where no samples of one cell are measured before the pass.
void check_contention(const CLI::App& app, const StepFlags& flags, StrategyKind strategy);

// Both sides of a pair, `a` and, with the change of --ab, `b`, run in one process, on the devices
// of one `launch`.
void check_pair(const StepFlags& flags, StrategyKind a, StrategyKind b, Launch launch);

}  // namespace tandem::bench
