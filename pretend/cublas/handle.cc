// SPDX-License-Identifier: Apache-2.0
//
// Handles of the pretended cuBLAS: what is set is what is told.
#include "pretend/cublas/handle.h"

#include <cstdint>

#include "pretend/core/settings.h"

using namespace tandem::pretend;

extern "C" {

int cublasCreate_v2(BlasHandle** handle) {
  *handle = new BlasHandle;
  return 0;
}

int cublasDestroy_v2(BlasHandle* handle) {
  delete handle;
  return 0;
}

int cublasSetStream_v2(BlasHandle* handle, void* stream) {
  handle->stream = stream;
  return 0;
}

int cublasGetStream_v2(BlasHandle* handle, void** stream) {
  *stream = handle->stream;
  return 0;
}

int cublasSetPointerMode_v2(BlasHandle* handle, int mode) {
  handle->pointer_mode = mode;
  return 0;
}

int cublasGetPointerMode_v2(BlasHandle* handle, int* mode) {
  *mode = handle->pointer_mode;
  return 0;
}

int cublasSetMathMode(BlasHandle* handle, int mode) {
  handle->math_mode = mode;
  return 0;
}

int cublasGetMathMode(BlasHandle* handle, int* mode) {
  *mode = handle->math_mode;
  return 0;
}

int cublasSetAtomicsMode(BlasHandle* handle, int mode) {
  handle->atomics_mode = mode;
  return 0;
}

int cublasGetAtomicsMode(BlasHandle* handle, int* mode) {
  *mode = handle->atomics_mode;
  return 0;
}

int cublasGetVersion_v2(BlasHandle*, int* version) {
  *version = settings().versions.blas;
  return 0;
}

const char* cublasGetStatusString(int status) {
  return status == 0 ? "CUBLAS_STATUS_SUCCESS" : "not supported by Tandem's pretended cuBLAS";
}

const char* cublasGetStatusName(int status) { return cublasGetStatusString(status); }
}
