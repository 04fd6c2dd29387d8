// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "bench/lessons/classroom.h"

namespace tandem::bench {

using Lessons = std::vector<const Lesson*>;

// The named lessons, in the order of `all`; all lessons where no name is given. Throws a usage
// error that lists the known names.
[[nodiscard]] Lessons choose_lessons(const Lessons& all, const std::vector<std::string>& names);

// Writes a line for each lesson: name and claim.
void list_lessons(const Lessons& lessons, std::ostream& out);

// Runs the lessons one after the other, and rank 0 writes each finding to `out`. A lesson that
// could not be run is reported, and the other lessons still run. Returns 0, or 1 where a lesson
// could not be run: verdicts do not change the exit status. Collective.
[[nodiscard]] int run_lessons(const Lessons& lessons, Classroom& room, std::ostream& out);

// The one list of lessons, in the order of telling: what happens to the numbers, what is asked of
// the user, how batches are cut, then times. Each lesson is defined in the file of its kind.
#define TANDEM_LESSONS(X)   \
  X(kParametersNeverUpdate) \
  X(kReplicaUpdatesLost)    \
  X(kForwardStateLost)      \
  X(kGradientsAveraged)     \
  X(kMeanOfLosses)          \
  X(kUpdateOnEveryDevice)   \
  X(kIndependentCopies)     \
  X(kOldWeights)            \
  X(kReplicasRebuilt)       \
  X(kBackwardOnOneDevice)   \
  X(kModelOnFirstDevice)    \
  X(kDeviceIdsInAnyOrder)   \
  X(kInputsOnDevice)        \
  X(kMisplacedTensor)       \
  X(kCustomParameter)       \
  X(kSixteenEach)           \
  X(kEvenSplit)             \
  X(kBatchOfOne)            \
  X(kBatchOfTwo)            \
  X(kUnevenBatchesFail)     \
  X(kPaddedBatchesBreak)    \
  X(kOutputShape)           \
  X(kScalarOutputs)         \
  X(kRootMemory)            \
  X(kProportionalSpeedUp)   \
  X(kBatchOfTwoSlower)      \
  X(kLargeModelSmallBatch)  \
  X(kScalingFlattens)       \
  X(kRootLossBottleneck)    \
  X(kThreadsSlower)         \
  X(kInterpreterLock)

#define TANDEM_LESSON(name) extern const Lesson name;
TANDEM_LESSONS(TANDEM_LESSON)
#undef TANDEM_LESSON

[[nodiscard]] Lessons all_lessons();

}  // namespace tandem::bench
