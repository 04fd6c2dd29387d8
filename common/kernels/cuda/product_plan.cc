// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/product_plan.h"

#include <algorithm>

namespace tandem::cuda {
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
          .epilogue = CUBLASLT_EPILOGUE_DEFAULT};
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

bool writes_before(cublasLtEpilogue_t epilogue) {
  return epilogue == CUBLASLT_EPILOGUE_GELU_AUX || epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
}

bool has_epilogue(const ProductPlan& plan, std::uint32_t before) {
  constexpr std::int64_t kPackOfColumn = 8;
  constexpr std::uint32_t kBytesAtATime = 16;
  if (!writes_before(plan.epilogue)) return true;
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
