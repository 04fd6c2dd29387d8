// SPDX-License-Identifier: Apache-2.0
//
// Other layers of cuDNN's older interface: batch normalisation, dropout, pooling, the CTC loss and
// spatial transformers. They go to the log by name; no one needs memory of its own.
#include <cstdint>

#include "pretend/cudnn/handle.h"

using namespace tandem::pretend;

namespace {

// The generator's states of dropout: the size that cuDNN tells for a GPU is of this order.
constexpr uint64_t kDropoutStateBytes = 1 << 20;

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses)
#define TANDEM_LAYER(name) \
  extern "C" int name(const DnnHandle* handle) { return log_library(#name, handle); }
// NOLINTEND(bugprone-macro-parentheses)

TANDEM_LAYER(cudnnBatchNormalizationForwardTrainingEx)
TANDEM_LAYER(cudnnBatchNormalizationForwardTraining)
TANDEM_LAYER(cudnnBatchNormalizationForwardInference)
TANDEM_LAYER(cudnnBatchNormalizationBackwardEx)
TANDEM_LAYER(cudnnBatchNormalizationBackward)
TANDEM_LAYER(cudnnPoolingForward)
TANDEM_LAYER(cudnnPoolingBackward)
TANDEM_LAYER(cudnnActivationForward)
TANDEM_LAYER(cudnnActivationBackward)
TANDEM_LAYER(cudnnSoftmaxForward)
TANDEM_LAYER(cudnnSoftmaxBackward)
TANDEM_LAYER(cudnnDropoutForward)
TANDEM_LAYER(cudnnDropoutBackward)
TANDEM_LAYER(cudnnCTCLoss)
TANDEM_LAYER(cudnnCTCLoss_v8)
TANDEM_LAYER(cudnnSpatialTfGridGeneratorForward)
TANDEM_LAYER(cudnnSpatialTfGridGeneratorBackward)
TANDEM_LAYER(cudnnSpatialTfSamplerForward)
TANDEM_LAYER(cudnnSpatialTfSamplerBackward)

extern "C" {

int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(const void*, int, int, const void*,
                                                             const void*, const void*, const void*,
                                                             const void*, uint64_t* bytes) {
  *bytes = 0;
  return 0;
}

int cudnnGetBatchNormalizationBackwardExWorkspaceSize(const void*, int, int, const void*,
                                                      const void*, const void*, const void*,
                                                      const void*, const void*, const void*,
                                                      uint64_t* bytes) {
  *bytes = 0;
  return 0;
}

int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(const void*, int, int, const void*,
                                                         const void*, uint64_t* bytes) {
  *bytes = 0;
  return 0;
}

int cudnnGetCTCLossWorkspaceSize(const void*, const void*, const void*, const int*, const int*,
                                 const int*, int, const void*, uint64_t* bytes) {
  *bytes = 0;
  return 0;
}

int cudnnGetCTCLossWorkspaceSize_v8(const void*, int, const void*, const void*, const void*,
                                    uint64_t* bytes) {
  *bytes = 0;
  return 0;
}

int cudnnDropoutGetStatesSize(const DnnHandle*, uint64_t* bytes) {
  *bytes = kDropoutStateBytes;
  return 0;
}
}
