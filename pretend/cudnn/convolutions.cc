// SPDX-License-Identifier: Apache-2.0
//
// cuDNN's older interface to convolutions, which torch takes for some layouts and by request.
#include <cstdint>
#include <string>

#include "pretend/abi/cudnn.h"
#include "pretend/core/library_types.h"
#include "pretend/core/log.h"
#include "pretend/core/put.h"
#include "pretend/cudnn/handle.h"

using namespace tandem::pretend;

namespace {

// Made only where somebody reads the log: it allocates.
const char* describe(const char* pass, const DnnTensor& x, const DnnTensor& w, const DnnTensor& y) {
  if (!log::on) return nullptr;
  const std::string text = std::string("[{\"operation\":\"convolution-") + pass +
                           "\",\"x\":" + shape_of(x) + ",\"w\":" + shape_of(w) +
                           ",\"y\":" + shape_of(y) + ",\"type\":\"" +
                           name_of(abi::from_cudnn(x.type)) + "\"}]";
  return log::keep(text.c_str());
}

int log_convolution(const char* call, const DnnHandle* handle, const char* operations) {
  return log_library(call, handle, operations, RecordKind::kConvolution);
}

// One algorithm that needs no workspace: number 1 exists in all three passes.
int offer(int wanted, int* count, abi::AlgorithmResult* results) {
  *count = wanted > 0 ? 1 : 0;
  if (wanted > 0) {
    *results = {.algorithm = 1,
                .status = 0,
                .milliseconds = 0.01F,
                .workspace_bytes = 0,
                .determinism = 1,
                .math_type = 0,
                .reserved = {}};
  }
  return 0;
}

}  // namespace

extern "C" {

int cudnnConvolutionForward(DnnHandle* handle, const void*, const DnnTensor* x, const void*,
                            const DnnTensor* w, const void*, const void*, int, void*, uint64_t,
                            const void*, const DnnTensor* y, void*) {
  return log_convolution("cudnnConvolutionForward", handle, describe("forward", *x, *w, *y));
}

int cudnnConvolutionBackwardData(DnnHandle* handle, const void*, const DnnTensor* w, const void*,
                                 const DnnTensor* dy, const void*, const void*, int, void*,
                                 uint64_t, const void*, const DnnTensor* dx, void*) {
  return log_convolution("cudnnConvolutionBackwardData", handle,
                         describe("backward-data", *dx, *w, *dy));
}

int cudnnConvolutionBackwardFilter(DnnHandle* handle, const void*, const DnnTensor* x, const void*,
                                   const DnnTensor* dy, const void*, const void*, int, void*,
                                   uint64_t, const void*, const DnnTensor* dw, void*) {
  return log_convolution("cudnnConvolutionBackwardFilter", handle,
                         describe("backward-filter", *x, *dw, *dy));
}

int cudnnConvolutionBiasActivationForward(DnnHandle* handle, const void*, const DnnTensor* x,
                                          const void*, const DnnTensor* w, const void*, const void*,
                                          int, void*, uint64_t, const void*, const void*,
                                          const void*, const void*, const void*, const void*,
                                          const DnnTensor* y, void*) {
  return log_convolution("cudnnConvolutionBiasActivationForward", handle,
                         describe("forward", *x, *w, *y));
}
}

// The three passes differ in name alone.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define TANDEM_GET_ALGORITHM(name)                                                                 \
  extern "C" int name(const void*, const void*, const void*, const void*, const void*, int wanted, \
                      int* count, abi::AlgorithmResult* results) {                                 \
    return offer(wanted, count, results);                                                          \
  }
TANDEM_GET_ALGORITHM(cudnnGetConvolutionForwardAlgorithm_v7)
TANDEM_GET_ALGORITHM(cudnnGetConvolutionBackwardDataAlgorithm_v7)
TANDEM_GET_ALGORITHM(cudnnGetConvolutionBackwardFilterAlgorithm_v7)

#define TANDEM_FIND_ALGORITHM(name)                                                    \
  extern "C" int name(const void*, const void*, const void*, const void*, const void*, \
                      const void*, const void*, void*, int wanted, int* count,         \
                      abi::AlgorithmResult* results, void*, uint64_t) {                \
    return offer(wanted, count, results);                                              \
  }
TANDEM_FIND_ALGORITHM(cudnnFindConvolutionForwardAlgorithmEx)
TANDEM_FIND_ALGORITHM(cudnnFindConvolutionBackwardDataAlgorithmEx)
TANDEM_FIND_ALGORITHM(cudnnFindConvolutionBackwardFilterAlgorithmEx)

#define TANDEM_WORKSPACE_SIZE(name)                                                         \
  extern "C" int name(const void*, const void*, const void*, const void*, const void*, int, \
                      uint64_t* bytes) {                                                    \
    return put(bytes, 0);                                                                   \
  }
TANDEM_WORKSPACE_SIZE(cudnnGetConvolutionForwardWorkspaceSize)
TANDEM_WORKSPACE_SIZE(cudnnGetConvolutionBackwardDataWorkspaceSize)
TANDEM_WORKSPACE_SIZE(cudnnGetConvolutionBackwardFilterWorkspaceSize)
// NOLINTEND(bugprone-macro-parentheses)
