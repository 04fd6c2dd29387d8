// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"

namespace tandem::bench {

Lessons all_lessons() {
  return {
      &kParametersNeverUpdate,
      &kReplicaUpdatesLost,
      &kForwardStateLost,
      &kGradientsAveraged,
      &kMeanOfLosses,
      &kUpdateOnEveryDevice,
      &kIndependentCopies,
      &kOldWeights,
      &kReplicasRebuilt,
      &kBackwardOnOneDevice,
      &kModelOnFirstDevice,
      &kDeviceIdsInAnyOrder,
      &kInputsOnDevice,
      &kMisplacedTensor,
      &kCustomParameter,
      &kSixteenEach,
      &kEvenSplit,
      &kBatchOfOne,
      &kBatchOfTwo,
      &kUnevenBatchesFail,
      &kPaddedBatchesBreak,
      &kOutputShape,
      &kScalarOutputs,
      &kRootMemory,
      &kProportionalSpeedUp,
      &kBatchOfTwoSlower,
      &kLargeModelSmallBatch,
      &kScalingFlattens,
      &kRootLossBottleneck,
      &kThreadsSlower,
      &kInterpreterLock,
  };
}

}  // namespace tandem::bench
