// SPDX-License-Identifier: Apache-2.0
//
// The pretended cuBLAS. Handles return what was set. Shapes of products go to the log.
// The four element types and the two widths of integers of each family differ in name alone, so
// macros write them down.
#include <cstdint>

#include "pretend/core/library_types.h"
#include "pretend/core/put.h"
#include "pretend/core/settings.h"
#include "pretend/cublas/handle.h"

using namespace tandem::pretend;

extern "C" {

int cublasCreate_v2(BlasHandle** handle) { return put(handle, new BlasHandle); }

int cublasDestroy_v2(BlasHandle* handle) { return destroy(handle); }

int cublasSetStream_v2(BlasHandle* handle, void* stream) { return put(&handle->stream, stream); }

int cublasGetStream_v2(BlasHandle* handle, void** stream) { return put(stream, handle->stream); }

int cublasSetPointerMode_v2(BlasHandle* handle, int mode) {
  return put(&handle->pointer_mode, mode);
}

int cublasGetPointerMode_v2(BlasHandle* handle, int* mode) {
  return put(mode, handle->pointer_mode);
}

int cublasSetMathMode(BlasHandle* handle, int mode) { return put(&handle->math_mode, mode); }

int cublasGetMathMode(BlasHandle* handle, int* mode) { return put(mode, handle->math_mode); }

int cublasSetAtomicsMode(BlasHandle* handle, int mode) { return put(&handle->atomics_mode, mode); }

int cublasGetAtomicsMode(BlasHandle* handle, int* mode) { return put(mode, handle->atomics_mode); }

int cublasGetVersion_v2(BlasHandle*, int* version) {
  return put(version, settings().versions.blas);
}

const char* cublasGetStatusString(int status) {
  return status == 0 ? "CUBLAS_STATUS_SUCCESS" : "not supported by Tandem's pretended cuBLAS";
}

const char* cublasGetStatusName(int status) { return cublasGetStatusString(status); }
}

// NOLINTBEGIN(bugprone-macro-parentheses)
#define TANDEM_GEMM(name, Int, kType)                                                     \
  extern "C" int name(BlasHandle* handle, int a, int b, Int m, Int n, Int k, const void*, \
                      const void*, Int, const void*, Int, const void*, void*, Int) {      \
    return log_product(#name, handle->stream, {m, n, k, 1, kType, a, b});                 \
  }

#define TANDEM_GEMM_STRIDED(name, Int, kType)                                                   \
  extern "C" int name(BlasHandle* handle, int a, int b, Int m, Int n, Int k, const void*,       \
                      const void*, Int, int64_t, const void*, Int, int64_t, const void*, void*, \
                      Int, int64_t, Int batch) {                                                \
    return log_product(#name, handle->stream, {m, n, k, batch, kType, a, b});                   \
  }

#define TANDEM_GEMM_BATCHED(name, Int, kType)                                                   \
  extern "C" int name(BlasHandle* handle, int a, int b, Int m, Int n, Int k, const void*,       \
                      const void*, Int, const void*, Int, const void*, void*, Int, Int batch) { \
    return log_product(#name, handle->stream, {m, n, k, batch, kType, a, b});                   \
  }

// A matrix times a vector: m rows and n columns give m values, or n where the matrix is transposed.
#define TANDEM_GEMV(name, Int, kType)                                                         \
  extern "C" int name(BlasHandle* handle, int a, Int m, Int n, const void*, const void*, Int, \
                      const void*, Int, const void*, void*, Int) {                            \
    return log_product(#name, handle->stream,                                                 \
                       {a != 0 ? n : m, 1, a != 0 ? m : n, 1, kType, a, 0});                  \
  }

#define TANDEM_ALL_TYPES(macro, family, suffix, Int)                 \
  macro(cublasS##family##suffix, Int, ElementType::kF32)             \
      macro(cublasD##family##suffix, Int, ElementType::kF64)         \
          macro(cublasC##family##suffix, Int, ElementType::kComplex) \
              macro(cublasZ##family##suffix, Int, ElementType::kComplex)

TANDEM_ALL_TYPES(TANDEM_GEMM, gemm_v2, , int)
TANDEM_ALL_TYPES(TANDEM_GEMM, gemm_v2, _64, int64_t)
TANDEM_ALL_TYPES(TANDEM_GEMM_STRIDED, gemmStridedBatched, , int)
TANDEM_ALL_TYPES(TANDEM_GEMM_STRIDED, gemmStridedBatched, _64, int64_t)
TANDEM_ALL_TYPES(TANDEM_GEMM_BATCHED, gemmBatched, , int)
TANDEM_ALL_TYPES(TANDEM_GEMM_BATCHED, gemmBatched, _64, int64_t)
TANDEM_ALL_TYPES(TANDEM_GEMV, gemv_v2, , int)
TANDEM_ALL_TYPES(TANDEM_GEMV, gemv_v2, _64, int64_t)

#define TANDEM_GEMM_EX(name, Int)                                                                 \
  extern "C" int name(BlasHandle* handle, int a, int b, Int m, Int n, Int k, const void*,         \
                      const void*, int type, Int, const void*, int, Int, const void*, void*, int, \
                      Int, int, int) {                                                            \
    return log_product(#name, handle->stream, {m, n, k, 1, abi::from_cuda(type), a, b});          \
  }

#define TANDEM_GEMM_STRIDED_EX(name, Int)                                                    \
  extern "C" int name(BlasHandle* handle, int a, int b, Int m, Int n, Int k, const void*,    \
                      const void*, int type, Int, int64_t, const void*, int, Int, int64_t,   \
                      const void*, void*, int, Int, int64_t, Int batch, int, int) {          \
    return log_product(#name, handle->stream, {m, n, k, batch, abi::from_cuda(type), a, b}); \
  }

TANDEM_GEMM_EX(cublasGemmEx, int)
TANDEM_GEMM_EX(cublasGemmEx_64, int64_t)
TANDEM_GEMM_EX(cublasSgemmEx, int)
TANDEM_GEMM_STRIDED_EX(cublasGemmStridedBatchedEx, int)
TANDEM_GEMM_STRIDED_EX(cublasGemmStridedBatchedEx_64, int64_t)
// NOLINTEND(bugprone-macro-parentheses)
