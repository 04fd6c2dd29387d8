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

// Defined in replicas.cc.
extern const Lesson kParametersNeverUpdate;
extern const Lesson kReplicaUpdatesLost;
extern const Lesson kForwardStateLost;
extern const Lesson kOldWeights;
extern const Lesson kReplicasRebuilt;
extern const Lesson kIndependentCopies;
extern const Lesson kUpdateOnEveryDevice;

// Defined in gradients.cc.
extern const Lesson kGradientsAveraged;
extern const Lesson kMeanOfLosses;
extern const Lesson kBackwardOnOneDevice;

// Defined in placement.cc.
extern const Lesson kModelOnFirstDevice;
extern const Lesson kDeviceIdsInAnyOrder;
extern const Lesson kInputsOnDevice;
extern const Lesson kMisplacedTensor;
extern const Lesson kCustomParameter;

// Defined in batches.cc.
extern const Lesson kSixteenEach;
extern const Lesson kEvenSplit;
extern const Lesson kBatchOfOne;
extern const Lesson kBatchOfTwo;
extern const Lesson kUnevenBatchesFail;
extern const Lesson kPaddedBatchesBreak;
extern const Lesson kOutputShape;
extern const Lesson kScalarOutputs;

// Defined in speed.cc.
extern const Lesson kRootMemory;
extern const Lesson kProportionalSpeedUp;
extern const Lesson kBatchOfTwoSlower;
extern const Lesson kLargeModelSmallBatch;
extern const Lesson kScalingFlattens;
extern const Lesson kRootLossBottleneck;
extern const Lesson kThreadsSlower;

// Defined in interpreter_lock.cc.
extern const Lesson kInterpreterLock;

// The lessons in the order of telling: what happens to the numbers, what is asked of the user, how
// batches are cut, then times.
[[nodiscard]] Lessons all_lessons();

}  // namespace tandem::bench
