// SPDX-License-Identifier: Apache-2.0
//
// The pretended cuBLASLt: descriptors keep what is set, the heuristic names one algorithm that
// needs no workspace, a product goes to the log.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "pretend/core/library_types.h"
#include "pretend/core/settings.h"
#include "pretend/cublas/handle.h"

using namespace tandem::pretend;

namespace {

constexpr int kInvalidValue = 7;  // CUBLAS_STATUS_INVALID_VALUE

// cublasLtMatmulDescAttributes_t
constexpr int kOperationA = 3;
constexpr int kOperationB = 4;
// cublasLtMatrixLayoutAttribute_t
constexpr int kLayoutType = 0;
constexpr int kLayoutRows = 2;
constexpr int kLayoutColumns = 3;
constexpr int kLayoutLeading = 4;
constexpr int kLayoutBatch = 5;

// Descriptors of all kinds: attributes by their number.
struct Attributes {
  std::map<int, std::vector<char>> values{};

  void set(int attribute, const void* value, uint64_t bytes) {
    const char* const from = static_cast<const char*>(value);
    values[attribute].assign(from, from + bytes);
  }

  // The attribute as an integer; 0 where it was never set.
  [[nodiscard]] int64_t number(int attribute) const {
    int64_t value = 0;
    const auto found = values.find(attribute);
    if (found != values.end()) {
      std::memcpy(&value, found->second.data(),
                  std::min<size_t>(sizeof value, found->second.size()));
    }
    return value;
  }

  int get(int attribute, void* value, uint64_t bytes, uint64_t* written) const {
    const auto found = values.find(attribute);
    const uint64_t known = found == values.end() ? bytes : found->second.size();
    if (written != nullptr) {
      *written = known;
    }
    if (value == nullptr || bytes < known) {
      return kInvalidValue;
    }
    std::memset(value, 0, bytes);
    if (found != values.end()) {
      std::memcpy(value, found->second.data(), known);
    }
    return 0;
  }
};

// cublasLtMatmulHeuristicResult_t
struct HeuristicResult {
  std::array<uint64_t, 8> algorithm;
  uint64_t workspace_bytes;
  int state;
  float waves;
  std::array<int, 4> reserved;
};
static_assert(sizeof(HeuristicResult) == 96);

int make(Attributes** made) {
  *made = new Attributes;
  return 0;
}

}  // namespace

extern "C" {

uint64_t cublasLtGetVersion() { return static_cast<uint64_t>(settings().versions.blas); }

uint64_t cublasLtGetCudartVersion() { return static_cast<uint64_t>(settings().versions.runtime); }

const char* cublasLtGetStatusString(int status) {
  return status == 0 ? "CUBLAS_STATUS_SUCCESS" : "not supported by Tandem's pretended cuBLASLt";
}

const char* cublasLtGetStatusName(int status) { return cublasLtGetStatusString(status); }

int cublasLtCreate(BlasHandle** handle) {
  *handle = new BlasHandle;
  return 0;
}

int cublasLtDestroy(BlasHandle* handle) {
  delete handle;
  return 0;
}

int cublasLtMatmulDescCreate(Attributes** made, int compute_type, int scale_type) {
  make(made);
  (*made)->set(0, &compute_type, sizeof compute_type);
  (*made)->set(1, &scale_type, sizeof scale_type);
  return 0;
}

int cublasLtMatmulDescDestroy(Attributes* made) {
  delete made;
  return 0;
}

int cublasLtMatmulDescSetAttribute(Attributes* to, int attribute, const void* value,
                                   uint64_t bytes) {
  to->set(attribute, value, bytes);
  return 0;
}

int cublasLtMatmulDescGetAttribute(Attributes* of, int attribute, void* value, uint64_t bytes,
                                   uint64_t* written) {
  return of->get(attribute, value, bytes, written);
}

int cublasLtMatrixLayoutCreate(Attributes** made, int type, uint64_t rows, uint64_t columns,
                               int64_t leading) {
  make(made);
  const int batch = 1;
  (*made)->set(kLayoutType, &type, sizeof type);
  (*made)->set(kLayoutRows, &rows, sizeof rows);
  (*made)->set(kLayoutColumns, &columns, sizeof columns);
  (*made)->set(kLayoutLeading, &leading, sizeof leading);
  (*made)->set(kLayoutBatch, &batch, sizeof batch);
  return 0;
}

int cublasLtMatrixLayoutDestroy(Attributes* made) {
  delete made;
  return 0;
}

int cublasLtMatrixLayoutSetAttribute(Attributes* to, int attribute, const void* value,
                                     uint64_t bytes) {
  to->set(attribute, value, bytes);
  return 0;
}

int cublasLtMatrixLayoutGetAttribute(Attributes* of, int attribute, void* value, uint64_t bytes,
                                     uint64_t* written) {
  return of->get(attribute, value, bytes, written);
}

int cublasLtMatmulPreferenceCreate(Attributes** made) { return make(made); }

int cublasLtMatmulPreferenceDestroy(Attributes* made) {
  delete made;
  return 0;
}

int cublasLtMatmulPreferenceSetAttribute(Attributes* to, int attribute, const void* value,
                                         uint64_t bytes) {
  to->set(attribute, value, bytes);
  return 0;
}

int cublasLtMatmulAlgoGetHeuristic(BlasHandle*, Attributes*, Attributes*, Attributes*, Attributes*,
                                   Attributes*, Attributes*, int wanted, HeuristicResult* results,
                                   int* found) {
  *found = wanted > 0 ? 1 : 0;
  if (wanted > 0) {
    *results = {};
    results->waves = 1;
  }
  return 0;
}

int cublasLtMatmulAlgoCheck(BlasHandle*, Attributes*, Attributes*, Attributes*, Attributes*,
                            Attributes*, const void*, HeuristicResult* result) {
  *result = {};
  result->waves = 1;
  return 0;
}

int cublasLtMatmul(BlasHandle*, const Attributes* how, const void*, const void*,
                   const Attributes* a, const void*, const Attributes*, const void*, const void*,
                   const Attributes*, void*, const Attributes* d, const void*, void*, uint64_t,
                   void* stream) {
  const bool turned = how->number(kOperationA) != 0;
  return log_product("cublasLtMatmul", stream,
                     {.m = d->number(kLayoutRows),
                      .n = d->number(kLayoutColumns),
                      .k = a->number(turned ? kLayoutRows : kLayoutColumns),
                      .batch = d->number(kLayoutBatch),
                      .type = abi::from_cuda(static_cast<int>(a->number(kLayoutType))),
                      .a = turned ? 1 : 0,
                      .b = how->number(kOperationB) != 0 ? 1 : 0});
}
}
