// SPDX-License-Identifier: Apache-2.0
//
// The pretended cuBLASLt: the heuristic names one algorithm that needs no workspace, and a product
// goes to the log.
#include <array>
#include <cstdint>

#include "pretend/core/library_types.h"
#include "pretend/core/put.h"
#include "pretend/core/settings.h"
#include "pretend/cublas/handle.h"
#include "pretend/cublaslt/descriptors.h"

using namespace tandem::pretend;

namespace {

// cublasLtMatmulHeuristicResult_t
struct HeuristicResult {
  std::array<uint64_t, 8> algorithm;
  uint64_t workspace_bytes;
  int state;
  float waves = 1;
  std::array<int, 4> reserved;
};
static_assert(sizeof(HeuristicResult) == 96);

}  // namespace

extern "C" {

uint64_t cublasLtGetVersion() { return static_cast<uint64_t>(settings().versions.blas); }

// A part of the version, which is written as 130205: 0 major, 1 minor, 2 patch level.
int cublasLtGetProperty(int part, int* value) {
  constexpr std::array kUnits = {10000, 100, 1};
  constexpr int kInvalidValue = 7;  // CUBLAS_STATUS_INVALID_VALUE
  if (part < 0 || part > 2 || value == nullptr) return kInvalidValue;
  *value = settings().versions.blas / kUnits[static_cast<size_t>(part)] % 100;
  return 0;
}

uint64_t cublasLtGetCudartVersion() { return static_cast<uint64_t>(settings().versions.runtime); }

const char* cublasLtGetStatusString(int status) {
  return status == 0 ? "CUBLAS_STATUS_SUCCESS" : "not supported by Tandem's pretended cuBLASLt";
}

const char* cublasLtGetStatusName(int status) { return cublasLtGetStatusString(status); }

int cublasLtCreate(BlasHandle** handle) { return put(handle, new BlasHandle); }

int cublasLtDestroy(BlasHandle* handle) { return destroy(handle); }

int cublasLtMatmulAlgoGetHeuristic(BlasHandle*, const Operation*, const Layout*, const Layout*,
                                   const Layout*, const Layout*, const Preference*, int wanted,
                                   HeuristicResult* results, int* found) {
  *found = wanted > 0 ? 1 : 0;
  if (wanted > 0) *results = {};
  return 0;
}

int cublasLtMatmulAlgoCheck(BlasHandle*, const Operation*, const Layout*, const Layout*,
                            const Layout*, const Layout*, const void*, HeuristicResult* result) {
  return put(result, {});
}

int cublasLtMatmul(BlasHandle*, const Operation* how, const void*, const void*, const Layout* a,
                   const void*, const Layout*, const void*, const void*, const Layout*, void*,
                   const Layout* d, const void*, void*, uint64_t, void* stream) {
  const bool turned = how->a != 0;
  return log_product("cublasLtMatmul", stream,
                     {.m = static_cast<int64_t>(d->rows),
                      .n = static_cast<int64_t>(d->columns),
                      .k = static_cast<int64_t>(turned ? a->rows : a->columns),
                      .batch = d->batch,
                      .type = abi::from_cuda(a->type),
                      .a = turned ? 1 : 0,
                      .b = how->b != 0 ? 1 : 0});
}
}
