// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/matrix_products.h"

#include <algorithm>

#include "common/runtime/cuda/check.h"

namespace tandem::cuda {

namespace {

// The most suggestions that the library is asked for. The best come first, and the first suggestion
// that works is taken.
constexpr int kSuggestions = 8;

template <class Value>
cublasStatus_t set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute,
                   const Value& value) {
  return cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value);
}

template <class Value>
cublasStatus_t set(cublasLtMatmulPreference_t preference,
                   cublasLtMatmulPreferenceAttributes_t attribute, const Value& value) {
  return cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value);
}

cublasOperation_t operation_on(const StoredMatrix& matrix) {
  return matrix.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

cublasStatus_t lay_out(cublasLtMatrixLayout_t layout, const StoredMatrix& matrix,
                       std::int32_t count) {
  cublasStatus_t status = cublasLtMatrixLayoutInit(
      layout, cuda_type(matrix.type), static_cast<std::uint64_t>(matrix.rows),
      static_cast<std::uint64_t>(matrix.columns), matrix.stride == 0 ? matrix.rows : matrix.stride);
  if (status != CUBLAS_STATUS_SUCCESS || count == 1) return status;
  status = cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                            sizeof count);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                          &matrix.apart, sizeof matrix.apart);
}

bool has_vector(cublasLtEpilogue_t epilogue) {
  constexpr unsigned kWithVector =
      unsigned{CUBLASLT_EPILOGUE_BIAS} | unsigned{CUBLASLT_EPILOGUE_BGRADB};
  return (static_cast<unsigned>(epilogue) & kWithVector) != 0;
}

std::string failure(cublasStatus_t status, const char* call, int gpu) {
  return fmt::format("{} on GPU {}: {} ({})", call, gpu, cublasLtGetStatusName(status),
                     cublasLtGetStatusString(status));
}

}  // namespace

MatrixProducts::MatrixProducts(Gpu& gpu, Precision precision, ByteSpan workspace)
    : gpu_(gpu), precision_(precision), workspace_(workspace) {
  const DeviceGuard here(gpu_.ordinal());
  const cublasStatus_t status = cublasLtCreate(&handle_);
  if (status == CUBLAS_STATUS_SUCCESS) return;
  static_cast<void>(cudaGetLastError());
  fail(status == CUBLAS_STATUS_ALLOC_FAILED ? ErrorKind::kOutOfMemory : ErrorKind::kFailure, "{}",
       failure(status, "cublasLtCreate", gpu_.ordinal()));
}

// Gives back resources of its GPU, which it waits for.
MatrixProducts::~MatrixProducts() {
  const DeviceGuard here(gpu_.ordinal(), std::nothrow);
  static_cast<void>(cublasLtDestroy(handle_));
}

Epilogue MatrixProducts::enqueue(cudaStream_t stream, const ProductPlan& plan,
                                 const ProductOperands& operands) {
  const Key key{plan,
                {alignment_of(operands.a, plan.a), alignment_of(operands.b, plan.b),
                 alignment_of(operands.d, plan.d), alignment_of(operands.vector),
                 alignment_of(operands.before)}};
  auto place = prepared_.find(key);
  if (place == prepared_.end()) place = prepared_.emplace(key, prepare(key, operands)).first;
  Prepared& prepared = place->second;
  point_to(plan, operands, prepared);
  constexpr float kOne = 1;
  constexpr float kZero = 0;  // what lies in d is not read
  check(cublasLtMatmul(handle_, &prepared.operation, &kOne, operands.a, &prepared.a, operands.b,
                       &prepared.b, &kZero, operands.d, &prepared.d, operands.d, &prepared.d,
                       &prepared.algorithm, workspace_.data(), prepared.workspace, stream),
        "cublasLtMatmul", plan);
  return prepared.epilogue == plan.epilogue ? Epilogue::kDone : Epilogue::kLeft;
}

MatrixProducts::Prepared MatrixProducts::prepare(const Key& key, const ProductOperands& operands) {
  ProductPlan bare = key.plan;
  bare.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  for (const ProductPlan& plan : {key.plan, bare}) {
    if (!has_epilogue(plan, key.alignments.back())) continue;
    Prepared prepared;
    describe(plan, operands, prepared);
    if (choose_algorithm(key, prepared)) return prepared;
  }
  gpu_.throw_if_failed();
  fail(ErrorKind::kFailure, "cuBLASLt has no algorithm for {} on GPU {} ({})", to_string(key.plan),
       gpu_.ordinal(), gpu_.name());
}

void MatrixProducts::describe(const ProductPlan& plan, const ProductOperands& operands,
                              Prepared& prepared) const {
  cublasLtMatmulDescOpaque_t* const operation = &prepared.operation;
  const auto checked = [&](cublasStatus_t status) {
    check(status, "describing the product to cuBLASLt", plan);
  };
  checked(cublasLtMatmulDescInit(operation, compute_type(plan, precision_), CUDA_R_32F));
  checked(
      set(operation, CUBLASLT_MATMUL_DESC_TRANSA, static_cast<std::int32_t>(operation_on(plan.a))));
  checked(
      set(operation, CUBLASLT_MATMUL_DESC_TRANSB, static_cast<std::int32_t>(operation_on(plan.b))));
  checked(lay_out(&prepared.a, plan.a, plan.count));
  checked(lay_out(&prepared.b, plan.b, plan.count));
  checked(lay_out(&prepared.d, plan.d, plan.count));
  checked(set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::uint32_t>(plan.epilogue)));
  prepared.epilogue = plan.epilogue;
  if (has_vector(plan.epilogue)) {
    checked(set(operation, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE,
                static_cast<std::int32_t>(cuda_type(plan.d.type))));
  }
  if (has_before(plan.epilogue)) {  // in the result's type, which is the default
    checked(set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, plan.d.rows));
  }
  // The choice of an algorithm looks at the pointers' alignment, which is part of the key.
  point_to(plan, operands, prepared);
}

void MatrixProducts::point_to(const ProductPlan& plan, const ProductOperands& operands,
                              Prepared& prepared) const {
  const auto point = [&](cublasLtMatmulDescAttributes_t attribute, void* address) {
    check(set(&prepared.operation, attribute, address), "cublasLtMatmulDescSetAttribute", plan);
  };
  if (has_vector(prepared.epilogue)) point(CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.vector);
  if (has_before(prepared.epilogue)) {
    point(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, operands.before);
  }
}

// False where the library has none that fits.
bool MatrixProducts::choose_algorithm(const Key& key, Prepared& prepared) {
  const auto& [a, b, d, vector, before] = key.alignments;
  cublasLtMatmulPreferenceOpaque_t preference{};
  const auto checked = [&](cublasStatus_t status) {
    check(status, "cublasLtMatmulPreferenceSetAttribute", key.plan);
  };
  checked(cublasLtMatmulPreferenceInit(&preference));
  checked(set(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
              static_cast<std::uint64_t>(workspace_.size())));
  checked(set(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, a));
  checked(set(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, b));
  checked(set(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, d));
  checked(set(&preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, d));
  std::array<cublasLtMatmulHeuristicResult_t, kSuggestions> results{};
  int found = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle_, &prepared.operation, &prepared.a, &prepared.b, &prepared.d, &prepared.d, &preference,
      kSuggestions, results.data(), &found);
  // Refusals, not failures: the combination is not to be had.
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE) return false;
  check(status, "cublasLtMatmulAlgoGetHeuristic", key.plan);
  return std::any_of(results.begin(), results.begin() + found,
                     [&](const auto& suggestion) { return take(suggestion, prepared); });
}

// False where it does not hold: the library may refuse what its heuristics suggest, and would do so
// when it is first launched.
bool MatrixProducts::take(const cublasLtMatmulHeuristicResult_t& suggestion, Prepared& prepared) {
  cublasLtMatmulHeuristicResult_t checked{};
  if (suggestion.state != CUBLAS_STATUS_SUCCESS ||
      cublasLtMatmulAlgoCheck(handle_, &prepared.operation, &prepared.a, &prepared.b, &prepared.d,
                              &prepared.d, &suggestion.algo, &checked) != CUBLAS_STATUS_SUCCESS) {
    return false;
  }
  prepared.algorithm = suggestion.algo;
  prepared.workspace = std::max(suggestion.workspaceSize, checked.workspaceSize);
  return prepared.workspace <= static_cast<std::size_t>(workspace_.size());
}

void MatrixProducts::check(cublasStatus_t status, const char* call, const ProductPlan& plan) const {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  gpu_.after_library({ErrorKind::kFailure, fmt::format("{}: {}", to_string(plan),
                                                       failure(status, call, gpu_.ordinal()))});
}

namespace {

const char* name_of(Product product) {
  switch (product) {
    case Product::kForward:
      return "linear_forward";
    case Product::kBackwardInput:
      return "linear_backward_input";
    case Product::kBackwardWeight:
      return "linear_backward_weight";
    case Product::kScores:
      return "attention_scores";
    case Product::kMix:
      return "attention_mix";
    case Product::kMixBackward:
      return "attention_mix_backward";
  }
  return "";
}

// A row-major (rows, columns) matrix as cuBLASLt sees it.
StoredMatrix as_it_lies(std::int64_t rows, std::int64_t columns, DType type) {
  return {.rows = columns, .columns = rows, .type = type, .transposed = false};
}

cublasLtEpilogue_t epilogue_of(const LinearForward& op) {
  switch (op.activation) {
    case Activation::kNone:
      return op.bias.empty() ? CUBLASLT_EPILOGUE_DEFAULT : CUBLASLT_EPILOGUE_BIAS;
    case Activation::kRelu:
      return op.bias.empty() ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_RELU_BIAS;
    // The tanh form. cuBLASLt's documentation does not say which it has; PyTorch, which asks for
    // the same epilogue, states it (torch/_decomp/decompositions.py, _addmm_activation).
    case Activation::kGelu:
      return op.bias.empty() ? CUBLASLT_EPILOGUE_GELU_AUX : CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
  }
  fail(ErrorKind::kLogic, "no such activation");
}

}  // namespace

StoredMatrix read_as_transposed(StoredMatrix matrix) {
  matrix.transposed = true;
  return matrix;
}

ProductPlan plan_of(const LinearForward& op) {
  const auto& [batch, in, out] = op.shape;
  const DType type = op.x.dtype();
  return {.product = Product::kForward,
          .shape = op.shape,
          .a = read_as_transposed(as_it_lies(out, in, type)),
          .b = as_it_lies(batch, in, type),
          .d = as_it_lies(batch, out, type),
          .epilogue = epilogue_of(op)};
}

ProductPlan plan_of(const LinearBackwardInput& op) {
  const auto& [batch, in, out] = op.shape;
  const DType type = op.dy.dtype();
  return {.product = Product::kBackwardInput,
          .shape = op.shape,
          .a = as_it_lies(out, in, type),
          .b = as_it_lies(batch, out, type),
          .d = as_it_lies(batch, in, type),
          .epilogue = op.before.empty() ? CUBLASLT_EPILOGUE_DEFAULT : CUBLASLT_EPILOGUE_DGELU};
}

// The bias gradient sums b, which is dy, along the inner dimension, which is the batch.
ProductPlan plan_of(const LinearBackwardWeight& op) {
  const auto& [batch, in, out] = op.shape;
  const DType type = op.x.dtype();
  StoredMatrix dy = read_as_transposed(as_it_lies(batch, out, type));
  if (op.padding > 0) dy.stride = out + op.padding;
  return {.product = Product::kBackwardWeight,
          .shape = op.shape,
          .a = as_it_lies(batch, in, type),
          .b = dy,
          .d = as_it_lies(out, in, DType::kFloat32),
          .epilogue = op.dbias.empty() ? CUBLASLT_EPILOGUE_DEFAULT : CUBLASLT_EPILOGUE_BGRADB};
}

bool has_before(cublasLtEpilogue_t epilogue) {
  return epilogue == CUBLASLT_EPILOGUE_GELU_AUX || epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS ||
         epilogue == CUBLASLT_EPILOGUE_DGELU;
}

bool has_epilogue(const ProductPlan& plan, std::uint32_t before) {
  constexpr std::int64_t kPackOfColumn = 8;
  constexpr std::uint32_t kBytesAtATime = 16;
  if (!has_before(plan.epilogue)) return true;
  return plan.d.rows % kPackOfColumn == 0 && before >= kBytesAtATime;
}

cublasComputeType_t compute_type(const ProductPlan& plan, Precision precision) {
  const bool tf32 = plan.a.type == DType::kFloat32 && precision == Precision::kTf32;
  return tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

cudaDataType_t cuda_type(DType type) {
  switch (type) {
    case DType::kFloat32:
      return CUDA_R_32F;
    case DType::kBFloat16:
      return CUDA_R_16BF;
    case DType::kFloat16:
      break;
  }
  fail(ErrorKind::kLogic, "a product of {}", name_of(type));
}

void check_precision(Precision precision, int capability, std::string_view gpu) {
  constexpr int kNeeded = 80;
  if (precision == Precision::kFp32 || capability >= kNeeded) return;
  fail(ErrorKind::kUsage,
       "--precision={}: {} has compute capability {}.{}, and {} came with {}.{}: take "
       "--precision=fp32",
       name_of(precision), gpu, capability / 10, capability % 10, name_of(precision), kNeeded / 10,
       kNeeded % 10);
}

Bytes workspace_size(int capability) {
  constexpr int kHopper = 90;
  return capability >= kHopper ? mib(32) : mib(4);
}

std::string to_string(const ProductPlan& plan) {
  return fmt::format("{} of {} x {} -> {} in {}", name_of(plan.product), plan.shape.batch,
                     plan.shape.in, plan.shape.out, name_of(plan.a.type));
}

std::uint32_t alignment_of(const void* address) {
  std::uint32_t alignment = 256;
  while (reinterpret_cast<std::uintptr_t>(address) % alignment != 0) alignment /= 2;
  return alignment;
}

std::uint32_t alignment_of(const void* address, const StoredMatrix& matrix) {
  const std::int64_t apart = matrix.apart * size_of(matrix.type);
  const std::uint32_t own = alignment_of(address);
  const std::uint32_t others = alignment_of(reinterpret_cast<const void*>(apart));
  return std::min(own, others);
}

}  // namespace tandem::cuda
