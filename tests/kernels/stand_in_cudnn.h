// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for cuDNN beside those for CUDA's runtime and cuBLASLt. It takes descriptors as the
// library does - attributes by name and type, nothing to be changed once finalised, nothing to be
// made of what is not - and runs single convolutions in plain loops over any strides, and graphs of
// other operations (stand_in_cudnn_graph.h), on the stream's worker. An engine with tensor cores
// rounds fp32 operands to tf32, so that whoever takes one unasked is seen by the numbers. It says
// nothing of what the library itself can do.
#pragma once

#include <cudnn_graph.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::test::stand_in {

struct CudnnEngine {
  std::vector<cudnnBackendNumericalNote_t> notes{};
  std::int64_t workspace = 0;  // bytes
  bool refuses = false;        // no plan can be made of it
  std::int64_t samples = 0;    // where positive: larger batches of attention want 4 GiB
};

struct Cudnn {
  std::size_t version = 91900;
  std::string trouble{};  // where not empty: there is no library, for this reason
  // What the heuristics suggest, best first, and what they fall back on.
  std::vector<CudnnEngine> engines{{{CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, 64},
                                   {{CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, 0},
                                   {{CUDNN_NUMERICAL_NOTE_WINOGRAD}, 0},
                                   {{}, 1000}};
  std::vector<CudnnEngine> fallbacks{{{}, 0}};
  bool refuses_graphs = false;                            // none is suggested but for a convolution
  std::string failing{};                                  // the next call of this function fails,
  cudnnStatus_t failure = CUDNN_STATUS_EXECUTION_FAILED;  // with this
  int searches = 0;                                       // of engines
  int executions = 0;
  int handles = 0;      // in existence
  int descriptors = 0;  // in existence
  CudnnEngine last_engine{};
};

// The one state; assign Cudnn{} between tests. Where the environment variable
// TANDEM_STAND_IN_CUDNN is "absent", it starts without a library; where it is "without-tf32",
// without engines that round, as on GPUs before Ampere.
[[nodiscard]] Cudnn& cudnn();

}  // namespace tandem::test::stand_in
