// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/lessons/classroom.h"
#include "bench/lessons/run_lessons.h"

namespace tandem::bench {

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
