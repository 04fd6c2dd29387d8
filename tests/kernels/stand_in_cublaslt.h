// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for cuBLASLt beside the one for CUDA's runtime: products in plain loops, column by
// column as cuBLASLt has it, run by the stream's worker. It refuses what its contract forbids -
// operands less aligned than was promised, a workspace larger than allowed, a missing vector - and
// says nothing of what the library itself can do or how it rounds.
#pragma once

#include <cublasLt.h>

#include <set>
#include <string>

namespace tandem::test::stand_in {

struct CublasLt {
  std::set<int> refused_epilogues{};                        // for which the heuristics find nothing
  bool refuses_all = false;                                 // the heuristics find nothing at all
  std::set<int> unsound_epilogues{};                        // what is suggested does not hold
  std::string failing{};                                    // the next call of this function fails,
  cublasStatus_t failure = CUBLAS_STATUS_EXECUTION_FAILED;  // with this
  int searches = 0;                                         // calls of the heuristics
  int products = 0;
  int handles = 0;  // in existence
  cublasComputeType_t last_compute = CUBLAS_COMPUTE_32F;
  int last_epilogue = CUBLASLT_EPILOGUE_DEFAULT;
};

// The one state; assign CublasLt{} between tests.
[[nodiscard]] CublasLt& cublaslt();

}  // namespace tandem::test::stand_in
