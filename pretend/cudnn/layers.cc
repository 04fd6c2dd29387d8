// SPDX-License-Identifier: Apache-2.0
//
// Other layers of cuDNN's older interface: batch normalisation, dropout, pooling, the CTC loss and
// spatial transformers. They go to the log, batch normalisation in training with its shape and the
// others by name; no one needs memory of its own.
#include <cstdint>
#include <string>

#include "pretend/core/library_types.h"
#include "pretend/core/log.h"
#include "pretend/core/put.h"
#include "pretend/cudnn/handle.h"

using namespace tandem::pretend;

namespace {

// The generator's states of dropout: the size that cuDNN reports for a GPU is of this order.
constexpr uint64_t kDropoutStateBytes = 1 << 20;

// The arguments up to the input's descriptor are declared: no caller sees the difference.
int log_normalisation(const char* call, const DnnHandle* handle, const char* pass,
                      const DnnTensor& x) {
  if (!log::on) return log_library(call, handle);
  const std::string text = std::string("[{\"operation\":\"normalisation-") + pass +
                           "\",\"x\":" + shape_of(x) + ",\"type\":\"" +
                           name_of(abi::from_cudnn(x.type)) + "\"}]";
  return log_library(call, handle, log::keep(text.c_str()));
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses)
#define TANDEM_LAYER(name) \
  extern "C" int name(const DnnHandle* handle) { return log_library(#name, handle); }
// NOLINTEND(bugprone-macro-parentheses)

TANDEM_LAYER(cudnnBatchNormalizationForwardInference)
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

int cudnnBatchNormalizationForwardTrainingEx(const DnnHandle* handle, int, int, const void*,
                                             const void*, const DnnTensor* x) {
  return log_normalisation("cudnnBatchNormalizationForwardTrainingEx", handle, "forward", *x);
}

int cudnnBatchNormalizationForwardTraining(const DnnHandle* handle, int, const void*, const void*,
                                           const DnnTensor* x) {
  return log_normalisation("cudnnBatchNormalizationForwardTraining", handle, "forward", *x);
}

int cudnnBatchNormalizationBackwardEx(const DnnHandle* handle, int, int, const void*, const void*,
                                      const void*, const void*, const DnnTensor* x) {
  return log_normalisation("cudnnBatchNormalizationBackwardEx", handle, "backward", *x);
}

int cudnnBatchNormalizationBackward(const DnnHandle* handle, int, const void*, const void*,
                                    const void*, const void*, const DnnTensor* x) {
  return log_normalisation("cudnnBatchNormalizationBackward", handle, "backward", *x);
}

int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(const void*, int, int, const void*,
                                                             const void*, const void*, const void*,
                                                             const void*, uint64_t* bytes) {
  return put(bytes, 0);
}

int cudnnGetBatchNormalizationBackwardExWorkspaceSize(const void*, int, int, const void*,
                                                      const void*, const void*, const void*,
                                                      const void*, const void*, const void*,
                                                      uint64_t* bytes) {
  return put(bytes, 0);
}

int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(const void*, int, int, const void*,
                                                         const void*, uint64_t* bytes) {
  return put(bytes, 0);
}

int cudnnGetCTCLossWorkspaceSize(const void*, const void*, const void*, const int*, const int*,
                                 const int*, int, const void*, uint64_t* bytes) {
  return put(bytes, 0);
}

int cudnnGetCTCLossWorkspaceSize_v8(const void*, int, const void*, const void*, const void*,
                                    uint64_t* bytes) {
  return put(bytes, 0);
}

int cudnnDropoutGetStatesSize(const DnnHandle*, uint64_t* bytes) {
  return put(bytes, kDropoutStateBytes);
}
}
