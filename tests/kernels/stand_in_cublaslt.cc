// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/stand_in_cublaslt.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tests/kernels/stand_in_product.h"
#include "tests/runtime/stand_in_cudart.h"

namespace {

namespace stand_in = tandem::test::stand_in;
using stand_in::has_before;
using stand_in::Layout;
using stand_in::Multiplication;
using stand_in::Operation;

// What the other opaque structures hold here.
struct Preference {
  std::uint64_t workspace;
  std::uint32_t alignments[4];  // a, b, c, d
};
struct Algorithm {
  std::uint32_t epilogue;
  std::uint32_t alignments[4];
  std::uint32_t vector_alignment;
  std::uint32_t before_alignment;
};
constexpr std::size_t kWorkspaceOfAll = 1024;

template <class Own, class Opaque>
Own& as(Opaque* opaque) {
  static_assert(sizeof(Own) <= sizeof(Opaque));
  return *reinterpret_cast<Own*>(opaque);
}

cublasStatus_t enter_cublaslt(const char* function) {
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

// The alignment that every matrix of a batch has.
std::uint32_t alignment_of_all(const void* address, const Layout& layout) {
  std::uint32_t alignment = alignment_of(address);
  const std::int64_t size = layout.type == CUDA_R_32F ? 4 : 2;
  while (layout.count > 1 && layout.apart * size % alignment != 0) alignment /= 2;
  return alignment;
}

bool takes_vector(std::uint32_t epilogue) {
  return (epilogue & (CUBLASLT_EPILOGUE_BIAS | CUBLASLT_EPILOGUE_BGRADB)) != 0;
}

}  // namespace

namespace tandem::test::stand_in {

extern "C" int tandem_cublaslt_searches() { return cublaslt().searches; }

CublasLt& cublaslt() {
  static CublasLt one;
  return one;
}

}  // namespace tandem::test::stand_in

struct cublasLtContext {};

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (const cublasStatus_t status = enter_cublaslt("cublasLtCreate")) return status;
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
  as<Operation>(operation) = {compute, {}, CUBLASLT_EPILOGUE_DEFAULT, -1, nullptr, nullptr, 0};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t size) {
  if (const cublasStatus_t status = enter_cublaslt("cublasLtMatmulDescSetAttribute")) return status;
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
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      return take(own.before);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      return take(own.before_stride);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t,
                                                 cudaDataType type, uint64_t rows, uint64_t columns,
                                                 int64_t stride) {
  as<Layout>(layout) = {
      type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), stride, 1, 0};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, size_t size) {
  Layout& own = as<Layout>(layout);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT && size == sizeof own.count) {
    std::memcpy(&own.count, value, size);
    return CUBLAS_STATUS_SUCCESS;
  }
  if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET && size == sizeof own.apart) {
    std::memcpy(&own.apart, value, size);
    return CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_INVALID_VALUE;
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
  if (const cublasStatus_t status = enter_cublaslt("cublasLtMatmulAlgoGetHeuristic")) return status;
  stand_in::CublasLt& state = stand_in::cublaslt();
  ++state.searches;
  const Operation& own = as<Operation>(operation);
  const Preference& wishes = as<Preference>(preference);
  if (state.refuses_all) return CUBLAS_STATUS_SUCCESS;  // with nothing found
  if (state.refused_epilogues.contains(static_cast<int>(own.epilogue))) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  if (has_before(own.epilogue) &&
      (own.before_stride % 8 != 0 || own.before == nullptr || alignment_of(own.before) < 16)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (wanted < 2 || wishes.workspace < kWorkspaceOfAll) return CUBLAS_STATUS_INVALID_VALUE;
  results[0] = {};  // a suggestion that does not hold
  results[0].state = CUBLAS_STATUS_NOT_SUPPORTED;
  results[1] = {};
  results[1].state = CUBLAS_STATUS_SUCCESS;
  results[1].workspaceSize = kWorkspaceOfAll;
  Algorithm& algorithm = as<Algorithm>(&results[1].algo);
  algorithm = {own.epilogue, {}, alignment_of(own.vector), alignment_of(own.before)};
  std::copy_n(wishes.alignments, 4, algorithm.alignments);
  *found = 2;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                                       cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                       cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                       const cublasLtMatmulAlgo_t* algo,
                                       cublasLtMatmulHeuristicResult_t* result) {
  const auto epilogue = reinterpret_cast<const Algorithm*>(algo)->epilogue;
  if (epilogue != as<Operation>(operation).epilogue) return CUBLAS_STATUS_INVALID_VALUE;
  if (stand_in::cublaslt().unsound_epilogues.contains(static_cast<int>(epilogue))) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  result->workspaceSize = kWorkspaceOfAll;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algo, void* workspace, size_t size,
                              cudaStream_t stream) {
  if (const cublasStatus_t status = enter_cublaslt("cublasLtMatmul")) return status;
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
  const Layout* const layouts[] = {&product.a.layout, &product.b.layout, &result, &result};
  for (int i = 0; i < 4; ++i) {
    sound = sound && alignment_of_all(operands[i], *layouts[i]) >= algorithm.alignments[i];
  }
  if (takes_vector(own.epilogue)) {
    sound = sound && own.vector != nullptr && own.vector_type == result.type &&
            alignment_of(own.vector) >= algorithm.vector_alignment;
  }
  if (has_before(own.epilogue)) {
    sound = sound && own.before != nullptr && own.before_stride >= result.rows &&
            alignment_of(own.before) >= algorithm.before_alignment;
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
