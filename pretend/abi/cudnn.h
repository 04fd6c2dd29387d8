// SPDX-License-Identifier: Apache-2.0
//
// The binary interface of cuDNN 9, as far as the answers need it. pretend/tests compares it with
// the real headers where these are.
#pragma once

#include <cstdint>

namespace tandem::pretend::abi {

inline constexpr int kCudnnSuccess = 0;
inline constexpr int kCudnnBadParameter = 2000;
inline constexpr int kCudnnNotSupported = 3000;

// cudnnBackendDescriptorType_t
enum BackendType : int {
  kBackendEngine = 2,
  kBackendEngineConfig = 3,
  kBackendHeuristic = 4,
  kBackendPlan = 5,
  kBackendConvolutionForward = 10,
  kBackendConvolutionFilter = 11,
  kBackendConvolutionData = 12,
  kBackendGraph = 15,
};

// cudnnBackendAttributeType_t, as far as its elements have a size of their own; others have 4
// bytes.
enum BackendElement : int {
  kElementHandle = 0,
  kElementBoolean = 2,
  kElementInt64 = 3,
  kElementDouble = 5,
  kElementPointer = 6,
  kElementDescriptor = 15,
  kElementChar = 24,
  kElementFraction = 26,
};

// cudnnBackendAttributeName_t
enum BackendAttribute : int {
  kHeuristicGraph = 201,
  kHeuristicResults = 202,
  kConfigEngine = 300,
  kConfigWorkspace = 303,
  kConfigSharedMemory = 304,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  kForwardW = 703,
  kForwardX = 704,
  kForwardY = 705,
  kDataW = 709,
  kDataDx = 710,
  kDataDy = 711,
  kFilterDw = 715,
  kFilterX = 716,
  kFilterDy = 717,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kGraphEngineCount = 802,
  kTensorType = 901,
  kTensorDimensions = 902,
  kEngineGraph = 1300,
  kEngineIndex = 1301,
};

// cudnnConvolutionFwdAlgoPerf_t, and those of the two backward passes.
struct AlgorithmResult {
  int algorithm;
  int status;
  float milliseconds;
  uint64_t workspace_bytes;
  int determinism;
  int math_type;
  int reserved[3];
};

// cudnnRNNMode_t, cudnnRNNBiasMode_t
inline constexpr int kRnnLstm = 2;
inline constexpr int kRnnGru = 3;
inline constexpr int kRnnNoBias = 0;
inline constexpr int kRnnDoubleBias = 2;

}  // namespace tandem::pretend::abi
