// SPDX-License-Identifier: Apache-2.0
//
// What may not be asked of step_bench, or not together: usage errors all.
#pragma once

#include <string>

#include "bench/fault.h"
#include "bench/job.h"
#include "bench/step_flags.h"
#include "bench/strategy_kind.h"

namespace CLI {
class App;
}  // namespace CLI

namespace tandem::bench {

void require(bool condition, const std::string& message);

void check_devices(const StepFlags& flags, StrategyKind strategy);

// Options that would do nothing are refused: the reader of the command would believe they did.
void check_applicable(const CLI::App& app, const StepFlags& flags, StrategyKind strategy);

// A fault that could not come would be waited for in vain.
void check_fault(const Fault& fault, StrategyKind strategy, Launch launch, int devices);

// A planted fault that nobody would see.
void check_watching(const StepFlags& flags);

// Options of the reducer that contradict one another or of which nothing would come.
void check_reducer(const StepFlags& flags);

// A warm-up has as many steps at least: ddp's buckets settle in the second one.
inline constexpr int kLeastWarmupSteps = 3;

void check_counts(const StepFlags& flags);

// What is profiled takes longer than it says: its times are not kept.
void check_profiled(const CLI::App& app, const StepFlags& flags);

// A pass is traced behind the samples of one cell.
void check_traced(const CLI::App& app, const StepFlags& flags);

// As is a pass that leaves all-reduces out, where each step enqueues its own.
void check_contention(const CLI::App& app, const StepFlags& flags, StrategyKind strategy);

// Both sides of a pair, `a` and with the change of --ab `b`, run in one process, on the devices of
// one `launch`.
void check_pair(const StepFlags& flags, StrategyKind a, StrategyKind b, Launch launch);

}  // namespace tandem::bench
