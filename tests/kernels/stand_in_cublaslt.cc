// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/stand_in_cublaslt.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "common/base/half.h"
#include "tests/runtime/stand_in_cudart.h"

namespace {

using tandem::BFloat16;
namespace stand_in = tandem::testing::stand_in;

// What the opaque structures hold here.
struct Operation {
  cublasComputeType_t compute;
  std::int32_t transposed[2];  // a, b
  std::uint32_t epilogue;
  std::int32_t vector_type;
  void* vector;
};
struct Layout {
  cudaDataType type;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t stride;  // between columns
};
struct Preference {
  std::uint64_t workspace;
  std::uint32_t alignments[4];  // a, b, c, d
};
struct Algorithm {
  std::uint32_t epilogue;
  std::uint32_t alignments[4];
  std::uint32_t vector_alignment;
};
constexpr std::size_t kWorkspaceOfAll = 1024;

template <class Own, class Opaque>
Own& as(Opaque* opaque) {
  static_assert(sizeof(Own) <= sizeof(Opaque));
  return *reinterpret_cast<Own*>(opaque);
}

cublasStatus_t enter(const char* function) {
  stand_in::CublasLt& state = stand_in::cublaslt();
  if (state.failing != function) return CUBLAS_STATUS_SUCCESS;
  state.failing.clear();
  return state.failure;
}

std::uint32_t alignment_of(const void* address) {
  std::uint32_t alignment = 256;
  while (reinterpret_cast<std::uintptr_t>(address) % alignment != 0) alignment /= 2;
  return alignment;
}

bool takes_vector(std::uint32_t epilogue) {
  return (epilogue & (CUBLASLT_EPILOGUE_BIAS | CUBLASLT_EPILOGUE_BGRADB)) != 0;
}

double value_at(const void* data, cudaDataType type, std::int64_t i) {
  if (type == CUDA_R_32F) return static_cast<const float*>(data)[i];
  return static_cast<double>(static_cast<float>(static_cast<const BFloat16*>(data)[i]));
}

void set_value(void* data, cudaDataType type, std::int64_t i, double value) {
  const auto rounded = static_cast<float>(value);
  if (type == CUDA_R_32F) {
    static_cast<float*>(data)[i] = rounded;
  } else {
    static_cast<BFloat16*>(data)[i] = BFloat16(rounded);
  }
}

struct Factor {
  const void* data;
  Layout layout;
  bool transposed;

  [[nodiscard]] std::int64_t rows() const { return transposed ? layout.columns : layout.rows; }
  [[nodiscard]] std::int64_t columns() const { return transposed ? layout.rows : layout.columns; }
  [[nodiscard]] double at(std::int64_t row, std::int64_t column) const {
    const std::int64_t i = transposed ? column + row * layout.stride : row + column * layout.stride;
    return value_at(data, layout.type, i);
  }
};

struct Multiplication {
  Operation operation;
  Factor a;
  Factor b;
  void* d;
  Layout result;

  [[nodiscard]] bool fits() const {
    return a.rows() == result.rows && b.columns() == result.columns && a.columns() == b.rows();
  }

  void run() const {
    const bool biased = (operation.epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
    const bool rectified = (operation.epilogue & CUBLASLT_EPILOGUE_RELU) != 0;
    for (std::int64_t column = 0; column < result.columns; ++column) {
      for (std::int64_t row = 0; row < result.rows; ++row) {
        double sum = 0;
        for (std::int64_t k = 0; k < a.columns(); ++k) sum += a.at(row, k) * b.at(k, column);
        if (biased) sum += value_at(operation.vector, result.type, row);
        if (rectified) sum = std::max(sum, 0.0);
        set_value(d, result.type, row + column * result.stride, sum);
      }
    }
    if (operation.epilogue == CUBLASLT_EPILOGUE_BGRADB) sum_columns_of_b();
  }

  void sum_columns_of_b() const {
    for (std::int64_t column = 0; column < b.columns(); ++column) {
      double sum = 0;
      for (std::int64_t k = 0; k < b.rows(); ++k) sum += b.at(k, column);
      set_value(operation.vector, result.type, column, sum);
    }
  }
};

}  // namespace

namespace tandem::testing::stand_in {

CublasLt& cublaslt() {
  static CublasLt one;
  return one;
}

}  // namespace tandem::testing::stand_in

struct cublasLtContext {};

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (const cublasStatus_t status = enter("cublasLtCreate")) return status;
  *handle = new cublasLtContext;
  ++stand_in::cublaslt().handles;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  if (handle != nullptr) --stand_in::cublaslt().handles;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasLtGetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_EXECUTION_FAILED ? "CUBLAS_STATUS_EXECUTION_FAILED"
                                                  : "CUBLAS_STATUS_OTHER";
}
const char* cublasLtGetStatusString(cublasStatus_t) { return "text of the stand-in"; }
cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int* value) {
  *value = type == MAJOR_VERSION ? 13 : type == MINOR_VERSION ? 1 : 0;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t operation, size_t,
                                               cublasComputeType_t compute, cudaDataType_t) {
  as<Operation>(operation) = {compute, {}, CUBLASLT_EPILOGUE_DEFAULT, -1, nullptr};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t size) {
  if (const cublasStatus_t status = enter("cublasLtMatmulDescSetAttribute")) return status;
  Operation& own = as<Operation>(operation);
  const auto take = [&](auto& member) {
    if (size != sizeof member) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&member, value, size);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return take(own.transposed[0]);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return take(own.transposed[1]);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return take(own.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return take(own.vector);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return take(own.vector_type);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t,
                                                 cudaDataType type, uint64_t rows, uint64_t columns,
                                                 int64_t stride) {
  as<Layout>(layout) = {type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns),
                        stride};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference,
                                                     size_t) {
  as<Preference>(preference) = {0, {256, 256, 256, 256}};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, size_t size) {
  Preference& own = as<Preference>(preference);
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) {
    if (size != sizeof own.workspace) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&own.workspace, value, size);
    return CUBLAS_STATUS_SUCCESS;
  }
  const int matrix = attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES;
  if (matrix < 0 || matrix > 3 || size != sizeof own.alignments[0]) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memcpy(&own.alignments[matrix], value, size);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* found) {
  *found = 0;
  if (const cublasStatus_t status = enter("cublasLtMatmulAlgoGetHeuristic")) return status;
  stand_in::CublasLt& state = stand_in::cublaslt();
  ++state.searches;
  const Operation& own = as<Operation>(operation);
  const Preference& wishes = as<Preference>(preference);
  if (state.refuses_all) return CUBLAS_STATUS_SUCCESS;  // with nothing found
  if (state.refused_epilogues.contains(static_cast<int>(own.epilogue))) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (wanted < 2 || wishes.workspace < kWorkspaceOfAll) return CUBLAS_STATUS_INVALID_VALUE;
  results[0] = {};  // a suggestion that does not hold
  results[0].state = CUBLAS_STATUS_NOT_SUPPORTED;
  results[1] = {};
  results[1].state = CUBLAS_STATUS_SUCCESS;
  results[1].workspaceSize = kWorkspaceOfAll;
  Algorithm& algorithm = as<Algorithm>(&results[1].algo);
  algorithm = {own.epilogue, {}, alignment_of(own.vector)};
  std::copy_n(wishes.alignments, 4, algorithm.alignments);
  *found = 2;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algo, void* workspace, size_t size,
                              cudaStream_t stream) {
  if (const cublasStatus_t status = enter("cublasLtMatmul")) return status;
  stand_in::CublasLt& state = stand_in::cublaslt();
  const Operation& own = as<Operation>(operation);
  const Algorithm& algorithm = *reinterpret_cast<const Algorithm*>(algo);
  const Layout& result = as<Layout>(d_layout);
  const Multiplication product{own,
                               {a, as<Layout>(a_layout), own.transposed[0] == CUBLAS_OP_T},
                               {b, as<Layout>(b_layout), own.transposed[1] == CUBLAS_OP_T},
                               d,
                               result};
  const void* const operands[] = {a, b, c, d};
  bool sound = product.fits() && *static_cast<const float*>(alpha) == 1 &&
               *static_cast<const float*>(beta) == 0 && algorithm.epilogue == own.epilogue &&
               workspace != nullptr && alignment_of(workspace) == 256 && size == kWorkspaceOfAll;
  for (int i = 0; i < 4; ++i) {
    sound = sound && alignment_of(operands[i]) >= algorithm.alignments[i];
  }
  if (takes_vector(own.epilogue)) {
    sound = sound && own.vector != nullptr && own.vector_type == result.type &&
            alignment_of(own.vector) >= algorithm.vector_alignment;
  }
  if (!sound) return CUBLAS_STATUS_INVALID_VALUE;
  ++state.products;
  state.last_compute = own.compute;
  state.last_epilogue = static_cast<int>(own.epilogue);
  const cudaError_t launched =
      stand_in::kernel("cublasLtMatmul", stream, [product] { product.run(); });
  return launched == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
